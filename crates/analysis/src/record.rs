//! The input of the analysis: finished runs, and baselines of localization.

use crate::switch_method::SwitchMethod;
use serde::{Deserialize, Serialize};

/// One finished run, as recorded in its folder.
#[derive(Clone, Debug, PartialEq)]
pub struct RunRecord {
    /// `default`, `paper`, or a custom name. Presets are never mixed.
    pub preset: String,
    /// `ems`, `no-symm`, `none-relu-large`, `conv-ems`, ...
    pub module: String,
    /// What was learned in this run: `sr-2way`, `localization`, ...
    pub task: String,
    pub seed: u64,
    pub kind: RunKind,
    /// The learning rate of a run on a single task, if it is not the preset's.
    pub learning_rate: Option<f64>,
    /// For a second task: step and validation reward at each evaluation of its base; empty without a base.
    pub base_curve: Vec<(u64, f64)>,
    /// Evaluations, in the order of steps.
    pub points: Vec<Point>,
    /// Why the run ended early, for instance because it diverged. Such a run counts as missing, and against its
    /// learning rate.
    pub failure: Option<String>,
}

/// The role of a run in a study.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunKind {
    /// One task, learned by an untrained module.
    #[serde(rename = "alone")]
    SingleTask,
    /// The first task of a switch, from which second tasks start.
    Base,
    /// A second task, learned after a base.
    Second {
        /// `switch-1` to `switch-15`, `no-switch`, ...
        switch: String,
        base_task: String,
        base: String,
        way: SwitchMethod,
    },
}

impl RunRecord {
    /// Whether both records describe the same run with the same result; only the names of base runs may differ.
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

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Steps since the run's start; for a second task, since the cue.
    pub step: u64,
    /// Validation reward, in 0..=1.
    pub reward: f64,
    /// In 0..=1.
    pub train_reward: Option<f64>,
    /// Share of the touches that were on any object or template, in 0..=1.
    pub on_object: Option<f64>,
    /// Vote share of the old modules, in 0..=1.
    pub reuse: Option<f64>,
}

/// The result of localization without reward maps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Baseline {
    /// `svr`, `ridge`, `mean box`, ...
    pub name: String,
    /// Mean IoU.
    pub score: f64,
    /// 95 % interval, (low, high).
    pub interval: Option<(f64, f64)>,
    pub n: usize,
}
