//! One trial: which images and templates it shows, and where. Small and cheap to copy.

use crate::pixel_box::PixelBox;
use crate::stimuli::{ClassIdx, ImageId};
use crate::task::MAX_SLOTS;
use crate::touch::Touch;
use serde::{Deserialize, Serialize};

/// What one trial shows and what it rewards.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Trial {
    /// A portrait; the regions of `rewarded_class` are rewarded.
    StimulusResponse {
        portrait: ImageId,
        /// Index among the task's classes; another class than the portrait's under class reversal.
        rewarded_class: u16,
    },
    /// A sample portrait, then templates; the template in `rewarded_slot` is rewarded.
    Templates { sample: ImageId, placements: Placements, rewarded_slot: u8 },
    /// A sample portrait, then a scene; all instances of `class` are rewarded.
    Scene {
        sample: ImageId,
        class: ClassIdx,
        /// Index of the scene.
        scene: u32,
    },
    /// The same screen twice; the reward is the IoU of `bounds` and the box spanned by two touches.
    Localization {
        object: ImageId,
        /// The object's box.
        bounds: PixelBox,
    },
}

/// The step within a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TrialState {
    /// The touch of the trial's first screen; `None` while that screen is shown.
    pub first_touch: Option<Touch>,
}

/// A template at a position on a match screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Placement {
    pub class: ClassIdx,
    /// Row of the template's top left pixel.
    pub top: u8,
    /// Column of the template's top left pixel.
    pub left: u8,
}

/// The templates of a match screen, one per slot.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Placements {
    all: [Placement; MAX_SLOTS],
    n_shown: u8,
}

impl Placements {
    /// Templates in the order of their slots; those after the first [`MAX_SLOTS`] are dropped.
    pub fn new(shown: impl IntoIterator<Item = Placement>) -> Self {
        let unused = Placement { class: ClassIdx(0), top: 0, left: 0 };
        let mut placements = Self { all: [unused; MAX_SLOTS], n_shown: 0 };
        for (slot, placement) in placements.all.iter_mut().zip(shown) {
            *slot = placement;
            placements.n_shown += 1;
        }
        placements
    }

    /// The templates in the order of their slots.
    pub fn as_slice(&self) -> &[Placement] {
        &self.all[..usize::from(self.n_shown)]
    }
}

impl std::fmt::Debug for Placements {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.as_slice().fmt(f)
    }
}
