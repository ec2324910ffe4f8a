//! How far a run has come, for people and scripts: `status.json`.

use serde::{Deserialize, Serialize};

/// What a run is doing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// It is being trained, or was when its process died.
    Running,
    /// It was stopped and can go on.
    Interrupted,
    /// It has reached its last step.
    Finished,
    /// It cannot go on.
    Failed,
}

/// How far a run has come.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunStatus {
    /// What it is doing.
    pub stage: Stage,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Steps learned when this was written.
    pub n_steps: u64,
    /// Steps to learn.
    pub of_steps: u64,
    /// Reward of the last evaluation.
    pub validation_reward: Option<f64>,
    /// The run's identity, as one word.
    pub identity: String,
}
