//! The input of the analysis: finished runs, and baselines of localization.

use crate::switch_method::SwitchMethod;
use serde::{Deserialize, Serialize};

/// One finished run, as recorded in its folder.
#[derive(Clone, Debug, PartialEq)]
pub struct RunRecord {
    /// `default`, `paper`, or a name of the user's. Presets are never mixed.
    pub preset: String,
    /// `ems`, `no-symm`, `none-relu-large`, `conv-ems`, ...
    pub module: String,
    /// What was learned in this run: `sr-2way`, `localization`, ...
    pub task: String,
    /// Of the run.
    pub seed: u64,
    /// Which part of a study it is.
    pub kind: RunKind,
    /// The learning rate of a single task, if it is not the preset's.
    pub learning_rate: Option<f64>,
    /// Final validation reward of the base, of a second task.
    pub base_end: Option<f64>,
    /// Its evaluations, in the order of steps.
    pub points: Vec<Point>,
    /// Why there is no more of it, for instance that it diverged: it counts as missing, and against its learning rate.
    pub failure: Option<String>,
}

/// Which part of a study a run is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunKind {
    /// A task on its own, from an untrained module.
    #[serde(rename = "alone")]
    SingleTask,
    /// The same, for second tasks to start from.
    Base,
    /// A second task after a base.
    Second {
        /// `switch-1` to `switch-15`, `no-switch`, ...
        switch: String,
        /// The base's task.
        base_task: String,
        /// Name of the base's run.
        base: String,
        /// How it is learned.
        way: SwitchMethod,
    },
}

impl RunRecord {
    /// Whether both are one run with one result; names of base runs may differ.
    pub fn has_same_results(&self, other: &Self) -> bool {
        let without_base = |record: &Self| {
            let mut record = record.clone();
            if let RunKind::Second { base, .. } = &mut record.kind {
                base.clear();
            }
            record
        };
        without_base(self) == without_base(other)
    }
}

/// One evaluation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Since the run's start; of a second task, since the cue.
    pub step: u64,
    /// Of validation, in 0..=1.
    pub reward: f64,
    /// While learning, in 0..=1.
    pub train_reward: Option<f64>,
    /// Which share of the touches was on any object or template, in 0..=1.
    pub on_object: Option<f64>,
    /// The old modules' share in what is learned, in 0..=1.
    pub reuse: Option<f64>,
}

/// Localization without a reward map.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Baseline {
    /// `svr`, `ridge`, `mean box`, ...
    pub name: String,
    /// Mean IoU.
    pub score: f64,
    /// 95 %, from low to high.
    pub interval: Option<(f64, f64)>,
    /// Screens.
    pub n: usize,
}
