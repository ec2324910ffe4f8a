//! The progress of a run: `status.json`.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// It is being trained, or its process was killed.
    Running,
    /// It was stopped and can resume.
    Interrupted,
    Finished,
    /// It cannot continue.
    Failed,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunStatus {
    pub stage: Stage,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    pub n_steps: u64,
    /// Steps of the whole run.
    pub of_steps: u64,
    /// Reward of the last evaluation.
    pub validation_reward: Option<f64>,
    /// Hash of the run's identity.
    pub identity: String,
}
