//! The number of runs that a result is based on.

use serde::Serialize;

/// The sample size of a result over tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SampleSize {
    pub n_runs: usize,
    pub n_tasks: usize,
    /// Seeds of the task with the fewest.
    pub fewest_seeds: usize,
    /// Seeds of the task with the most.
    pub most_seeds: usize,
}

impl SampleSize {
    /// From the scores of each task.
    pub(crate) fn of(strata: &[Vec<f64>]) -> Self {
        let n_seeds = || strata.iter().map(Vec::len);
        Self {
            n_runs: n_seeds().sum(),
            n_tasks: strata.len(),
            fewest_seeds: n_seeds().min().unwrap_or(0),
            most_seeds: n_seeds().max().unwrap_or(0),
        }
    }
}
