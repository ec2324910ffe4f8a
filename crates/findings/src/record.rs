//! What goes in: finished runs, and what localization comes to without a module.

use serde::{Deserialize, Serialize};

/// One finished run, as its folder tells it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    pub part: Part,
    /// Its evaluations, in the order of steps.
    pub points: Vec<Point>,
    /// Why there is no more of it, for instance that it diverged: it counts as missing, and against its learning rate.
    #[serde(default)]
    pub failure: Option<String>,
}

/// Which part of a study a run is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// A task from nothing.
    Alone {
        /// Another one than the paper's; `None` for the paper's.
        learning_rate: Option<f64>,
    },
    /// A second task after a base.
    Second {
        /// `switch-1` to `switch-15`, `no-switch`, ...
        switch: String,
        /// What was learned before.
        base_task: String,
        /// `scratch`, `layer`, `unit`, `layer-plain`, `unit-plain` (without transformations), `layer-shuffled`,
        /// `fine-tuning`, `old-alone`, or any other name.
        way: String,
        /// Validation reward of the base at its end.
        base_end: Option<f64>,
    },
}

/// One evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
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
