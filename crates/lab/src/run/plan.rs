//! What a run is to do, and what makes it that run and no other.

use serde::{Deserialize, Serialize};
use touchstream_agent::AgentSettings;

/// How long a run is and what is written down on the way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunPlan {
    /// The agent.
    pub agent: AgentSettings,
    /// Seed of the run: weights, trials, candidates and choices.
    pub seed: u64,
    /// Steps to learn, rounded up to whole updates.
    pub n_steps: u64,
    /// Steps between two evaluations, rounded up to whole updates.
    pub evaluate_every: u64,
    /// Validation trials of an evaluation.
    pub evaluation_trials: u64,
    /// Validation trials whose reward maps are kept.
    pub n_map_examples: usize,
    /// When reward maps are kept, in steps.
    pub map_steps: Vec<u64>,
}

/// Everything that decides a run's numbers. Runs of equal identities end in the same bits on one machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunIdentity {
    /// The plan.
    pub plan: RunPlan,
    /// The task, as a task file.
    pub task: String,
    /// Content hash of the images.
    pub data_hash: String,
    /// Content hash of the encoder.
    pub encoder_hash: String,
    /// Content hash of centring and scaling.
    pub calibration_hash: String,
    /// What loops are compiled for; they round differently.
    pub instructions: String,
    /// Version of the program.
    pub program: String,
}

/// Raised whenever the same identity would end in other bits, or its checkpoint would be read otherwise.
const RUN_VERSION: u32 = 1;

impl RunIdentity {
    /// One word for all of it.
    pub fn hash(&self) -> String {
        let json = serde_json::to_string(self).expect("an identity is plain data");
        blake3::hash(format!("run {RUN_VERSION} {json}").as_bytes()).to_hex().to_string()
    }
}
