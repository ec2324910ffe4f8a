//! One point of a learning curve.

use serde::{Deserialize, Serialize};
use touchstream_agents::Evaluation;

/// What is known after an evaluation. Nothing here depends on the clock: the same run gives the same rows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CurveRow {
    /// Steps learned.
    pub step: u64,
    /// Which of the stream's tasks was being learned, from 1.
    pub lesson: u64,
    /// Mean reward of the training trials since the row before; `None` where there were none.
    pub train_reward: Option<f64>,
    /// How many trials that was.
    pub train_trials: u64,
    /// Mean loss of the updates since the row before.
    pub train_loss: Option<f64>,
    /// The share of old modules in what was learned since the row before, mean over stages; `None` where there are none.
    pub reuse: Option<f64>,
    /// On the validation split.
    pub validation: Evaluation,
}

/// A column of the curve.
pub struct Column {
    /// Its name in every file.
    pub name: &'static str,
    /// Its value in a row.
    pub value: fn(&CurveRow) -> Value,
}

/// A value of a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// A count.
    Count(u64),
    /// A number, where there is one.
    Number(Option<f64>),
}

/// All columns, in order.
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
