//! A task as data: which classes, which paradigm, where the reward is. Nothing here runs.

use crate::mask::Mask;
use crate::shape::Shape;
use crate::task::transformation::Transformation;

/// A task as written down, by our table or by a user's file. [`Task::check`](crate::task::Task::check) makes
/// it usable.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskSpec {
    /// The one name of the task everywhere, for instance `mts-2way-stationary`.
    pub id: String,
    /// One line for people.
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
    /// The first so many of the source.
    First(usize),
    /// These, in this order.
    Named(Vec<String>),
    /// All that the source has.
    All,
}

/// The kind of a task.
#[derive(Clone, Debug, PartialEq)]
pub enum Paradigm {
    /// One screen with a portrait; each class has its own rewarded regions of the screen.
    StimulusResponse {
        /// What is rewarded for which class.
        regions: Vec<Region>,
    },
    /// A sample screen with a portrait, rewarded nowhere, then a match screen.
    MatchToSample(MatchScreen),
    /// One object; two touches span a box that is rewarded with its overlap (intersection over union).
    Localization,
}

impl Paradigm {
    /// `SR`, `MTS` or `LOC`, as the paper abbreviates.
    pub fn short_name(&self) -> &'static str {
        match self {
            Self::StimulusResponse { .. } => "SR",
            Self::MatchToSample(_) => "MTS",
            Self::Localization => "LOC",
        }
    }

    /// Screens and touches a trial.
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
    /// Position of the class among the task's classes.
    pub class: usize,
    /// Where.
    pub shape: Shape,
    /// How much, in (0, 1].
    pub reward: f32,
}

/// The second screen of a match-to-sample trial.
#[derive(Clone, Debug, PartialEq)]
pub enum MatchScreen {
    /// Class templates on grey; the sample's own is rewarded.
    Templates(TemplateLayout),
    /// A scene that holds the sample's class; any instance of it is rewarded.
    Scene,
}

/// Where templates stand on a match screen.
#[derive(Clone, Debug, PartialEq)]
pub struct TemplateLayout {
    /// Height and width of a template.
    pub side_px: usize,
    /// Where templates may stand; as many are shown as there are slots.
    pub slots: Vec<Slot>,
    /// Which class stands where.
    pub order: SlotOrder,
    /// The rewarded part of a template, relative to its top left pixel; `None` is all of it.
    pub button: Option<Shape>,
}

impl TemplateLayout {
    /// The rewarded part of a template that stands at the top left of the screen.
    pub fn button_mask(&self) -> Mask {
        match &self.button {
            None => Mask::from_fn(|row, col| row < self.side_px && col < self.side_px),
            Some(button) => button.mask(),
        }
    }
}

/// The place of a template: its top left pixel, drawn anew every trial where a range is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// First and last possible top row.
    pub top: Extent,
    /// First and last possible left column.
    pub left: Extent,
}

/// A range of pixels, both ends possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Smallest value.
    pub min: u32,
    /// Largest value.
    pub max: u32,
}

impl Extent {
    /// Always the same pixel.
    pub const fn fixed(px: u32) -> Self {
        Self { min: px, max: px }
    }

    /// How many different values.
    pub fn n_values(self) -> u64 {
        u64::from(self.max).saturating_sub(u64::from(self.min)) + 1
    }
}

/// Which class stands in which slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotOrder {
    /// Class *i* in slot *i*, always.
    Fixed,
    /// Drawn anew every trial; with fewer slots than classes, the others shown beside the sample's are too.
    Shuffled,
}
