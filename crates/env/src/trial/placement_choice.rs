//! How many different match screens a task shows: as many as there are, or a fixed pool of them.

use std::num::NonZeroU32;

/// Where templates that may stand anywhere are put on match screens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum PlacementChoice {
    /// Anew every trial, anywhere the task allows.
    #[default]
    Free,
    /// As on one of a fixed number of screens, so that every screen can be encoded once.
    Pool(PlacementPool),
}

/// A fixed number of match screens, the same for every run, agent and module.
///
/// The paper draws placements freely. A layout of at most `n` different screens has all of them in its pool, and
/// then trials are drawn as often as from free placements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PlacementPool {
    /// How many screens; at least one for each class is made in any case.
    pub n: NonZeroU32,
    /// Which screens. Not the seed of a run: runs of all seeds share their screens.
    pub seed: u64,
}

impl PlacementPool {
    /// How many screens unless one asks for another number.
    pub const DEFAULT_N: NonZeroU32 = NonZeroU32::new(500).expect("500 is not 0");

    /// So many screens, those of seed 0.
    pub const fn of(n: NonZeroU32) -> Self {
        Self { n, seed: 0 }
    }
}

impl Default for PlacementPool {
    fn default() -> Self {
        Self::of(Self::DEFAULT_N)
    }
}
