//! A task as data: its classes, its paradigm and its rewards.

use crate::mask::Mask;
use crate::shape::Shape;
use crate::task::transformation::Transformation;
use serde::Deserialize;

/// The definition of a task, from the built-in table or from a file. [`Task::check`](crate::task::Task::check)
/// validates it.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskSpec {
    /// The task's unique name, for instance `mts-2way-stationary`.
    pub id: String,
    /// A description in one line.
    pub title: String,
    /// Which classes of the source take part.
    pub classes: ClassChoice,
    /// What is shown and what is rewarded.
    pub paradigm: Paradigm,
    /// Changes applied to classes or rewards, in order.
    pub transformations: Vec<Transformation>,
}

/// Which classes of the source take part in a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClassChoice {
    /// The first `n` classes.
    First(usize),
    /// Classes by name, in this order.
    Named(Vec<String>),
    /// All classes.
    All,
}

/// What a task shows and rewards.
#[derive(Clone, Debug, PartialEq)]
pub enum Paradigm {
    /// One screen with a portrait; each class has its own rewarded regions of the screen.
    StimulusResponse { regions: Vec<Region> },
    /// A sample screen with a portrait and no reward, then a match screen.
    MatchToSample(MatchScreen),
    /// One object on two identical screens; two touches span a box, whose IoU with the object's box is the reward.
    Localization,
}

impl Paradigm {
    /// `SR`, `MTS` or `LOC`, the paper's abbreviations.
    pub fn short_name(&self) -> &'static str {
        match self {
            Self::StimulusResponse { .. } => "SR",
            Self::MatchToSample(_) => "MTS",
            Self::Localization => "LOC",
        }
    }

    /// Number of screens, and of touches, per trial.
    pub fn steps_per_trial(&self) -> u64 {
        match self {
            Self::StimulusResponse { .. } => 1,
            Self::MatchToSample(_) | Self::Localization => 2,
        }
    }
}

/// A rewarded region of a stimulus-response task.
#[derive(Clone, Debug, PartialEq)]
pub struct Region {
    /// Index among the task's classes.
    pub class: usize,
    pub shape: Shape,
    /// In (0, 1].
    pub reward: f32,
}

/// The second screen of a match-to-sample trial.
#[derive(Clone, Debug, PartialEq)]
pub enum MatchScreen {
    /// Class templates on grey; the template of the sample's class is rewarded.
    Templates(TemplateLayout),
    /// A scene that contains the sample's class; any instance of the class is rewarded.
    Scene,
}

/// Positions and order of the templates on a match screen.
#[derive(Clone, Debug, PartialEq)]
pub struct TemplateLayout {
    /// Height and width of a template in pixels.
    pub side_px: usize,
    /// Possible positions, one template each.
    pub slots: Vec<Slot>,
    pub order: SlotOrder,
    /// The rewarded part of a template, relative to its top left pixel; `None` for all of it.
    pub button: Option<Shape>,
}

impl TemplateLayout {
    /// The rewarded part of a template at the top left corner of the screen.
    pub fn button_mask(&self) -> Mask {
        match &self.button {
            None => Mask::from_fn(|row, col| row < self.side_px && col < self.side_px),
            Some(button) => button.mask(),
        }
    }
}

/// The position of a template: its top left pixel. A range is drawn from uniformly in every trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Top row.
    pub top: Extent,
    /// Left column.
    pub left: Extent,
}

/// A range of pixels, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    pub min: u32,
    pub max: u32,
}

impl Extent {
    /// A range of one pixel.
    pub const fn fixed(px: u32) -> Self {
        Self { min: px, max: px }
    }

    /// Number of pixels in the range.
    pub fn n_values(self) -> u64 {
        u64::from(self.max).saturating_sub(u64::from(self.min)) + 1
    }
}

/// Which class is shown in which slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SlotOrder {
    /// Class *i* always in slot *i*.
    Fixed,
    /// Shuffled in every trial. With fewer slots than classes, the classes shown next to the sample's are drawn, too.
    Shuffled,
}
