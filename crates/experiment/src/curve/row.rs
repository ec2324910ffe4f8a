//! One point of a learning curve.

use serde::{Deserialize, Serialize};
use touchstream_agents::Evaluation;

/// The results of an evaluation. They contain no times, so the same run has the same rows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CurveRow {
    pub step: u64,
    /// Index of the stream's current task, from 1.
    pub lesson: u64,
    /// Mean reward of the training trials since the previous row; `None` if there were none.
    pub train_reward: Option<f64>,
    pub train_trials: u64,
    /// Mean loss of the updates since the previous row.
    pub train_loss: Option<f64>,
    /// Vote share of the old modules since the previous row, mean over stages; `None` without old modules.
    pub reuse: Option<f64>,
    pub validation: Evaluation,
}

pub struct Column {
    pub name: &'static str,
    pub value: fn(&CurveRow) -> Value,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    Count(u64),
    Number(Option<f64>),
}

pub const COLUMNS: [Column; 14] = [
    Column { name: "step", value: |row| Value::Count(row.step) },
    Column { name: "lesson", value: |row| Value::Count(row.lesson) },
    Column { name: "train_reward", value: |row| Value::Number(row.train_reward) },
    Column { name: "train_trials", value: |row| Value::Count(row.train_trials) },
    Column { name: "train_loss", value: |row| Value::Number(row.train_loss) },
    Column { name: "reuse", value: |row| Value::Number(row.reuse) },
    Column { name: "validation_reward", value: |row| Value::Number(Some(row.validation.reward)) },
    Column { name: "validation_reward_se", value: |row| Value::Number(Some(row.validation.reward_se)) },
    Column { name: "validation_trials", value: |row| Value::Count(row.validation.n_trials) },
    Column { name: "validation_on_object", value: |row| Value::Number(row.validation.on_object) },
    Column { name: "cross_entropy", value: |row| Value::Number(Some(row.validation.cross_entropy)) },
    Column { name: "map_error", value: |row| Value::Number(Some(row.validation.map_error)) },
    Column { name: "calibration_error", value: |row| Value::Number(Some(row.validation.calibration_error)) },
    Column { name: "regret", value: |row| Value::Number(Some(row.validation.regret)) },
];
