//! Modules on single tasks: curves, areas, and comparisons over tasks.

mod compared;
mod comparison;
mod complete;
mod on_task;

pub(crate) use compared::Compared;
pub use comparison::{Comparison, ModuleAverage, NormalizedArea, TaskHorizon};
pub(crate) use on_task::task_findings;
pub use on_task::{ModuleOnTask, SeedCurve, TaskFindings};

use serde::Serialize;

/// Modules trained from scratch on single tasks, at the preset's learning rates.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ModuleFindings {
    pub tasks: Vec<TaskFindings>,
    pub all: Comparison,
    /// The comparison of the seven main modules.
    pub main: Comparison,
}
