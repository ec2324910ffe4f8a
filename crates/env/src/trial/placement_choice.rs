//! Whether a task shows all possible match screens or a fixed pool of them.

use std::num::NonZeroU32;

/// How the templates of a match screen are placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum PlacementChoice {
    /// Drawn in every trial from all positions that the task allows.
    #[default]
    Free,
    /// Drawn from a fixed list of screens, so that each screen is encoded once.
    Pool(PlacementPool),
}

/// A fixed number of match screens, the same for every run, agent and module.
///
/// Departs from the paper, which draws placements freely. If a layout has at most `n` different screens, its pool
/// contains them all, and trials have the same distribution as with free placements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PlacementPool {
    /// Number of screens, raised to the number of classes if it is below.
    pub n: NonZeroU32,
    /// Selects the screens. Not the seed of a run: runs of all seeds share their screens.
    pub seed: u64,
}

impl PlacementPool {
    /// Default number of screens.
    pub const DEFAULT_N: NonZeroU32 = NonZeroU32::new(500).expect("500 is not 0");

    /// `n` screens with seed 0.
    pub const fn new(n: NonZeroU32) -> Self {
        Self { n, seed: 0 }
    }
}

impl Default for PlacementPool {
    fn default() -> Self {
        Self::new(Self::DEFAULT_N)
    }
}
