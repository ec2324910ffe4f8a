//! One trial, drawn: which pictures, which places. Small and copied freely.

use crate::pixel_box::PixelBox;
use crate::stimuli::{ClassIdx, Picture};
use crate::task::MAX_SLOTS;
use crate::touch::Touch;
use serde::{Deserialize, Serialize};

/// What one trial shows and asks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Trial {
    /// A portrait; the rewarded regions are those of `rewarded_class`.
    StimulusResponse {
        /// What is shown.
        portrait: Picture,
        /// Whose region is rewarded, as a position among the task's classes.
        rewarded_class: u16,
    },
    /// A portrait, then templates; the one in `rewarded_slot` is rewarded.
    Templates {
        /// What the sample screen shows.
        sample: Picture,
        /// What the match screen shows.
        placements: Placements,
        /// Whose button is rewarded.
        rewarded_slot: u8,
    },
    /// A portrait, then a scene; all instances of the class are rewarded.
    Scene {
        /// What the sample screen shows.
        sample: Picture,
        /// The class looked for.
        class: ClassIdx,
        /// The scene's index.
        scene: u32,
    },
    /// One screen twice; the box spanned by two touches is rewarded with its overlap.
    Localization {
        /// What both screens show.
        object: Picture,
        /// The true box.
        bounds: PixelBox,
    },
}

/// Where an agent stands within a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TrialState {
    /// The touch that the trial's first screen got, once it got one.
    pub first_touch: Option<Touch>,
}

/// A template on a match screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct Placement {
    /// What it shows.
    pub class: ClassIdx,
    /// Row of its top left pixel.
    pub top: u8,
    /// Column of its top left pixel.
    pub left: u8,
}

/// The templates of a match screen, one a slot.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Placements {
    all: [Placement; MAX_SLOTS],
    n_shown: u8,
}

impl Placements {
    /// Templates in the order of their slots; those past [`MAX_SLOTS`] are dropped.
    pub fn new(shown: impl IntoIterator<Item = Placement>) -> Self {
        let nothing = Placement { class: ClassIdx(0), top: 0, left: 0 };
        let mut placements = Self { all: [nothing; MAX_SLOTS], n_shown: 0 };
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

impl Serialize for Placements {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.as_slice().serialize(serializer)
    }
}

impl std::fmt::Debug for Placements {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.as_slice().fmt(f)
    }
}
