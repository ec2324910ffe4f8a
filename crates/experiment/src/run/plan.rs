//! What a run is to do, and what makes it that run and no other.

use serde::{Deserialize, Serialize};
use touchstream_agents::{AgentSettings, find_module};
use touchstream_modules::composite::VotingSettings;

/// How long a run is and what is written down on the way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunPlan {
    /// Steps to learn, a multiple of the steps between two updates.
    pub n_steps: u64,
    /// Seed of the run: weights, trials, candidates and choices.
    pub seed: u64,
    /// The tasks of the stream, in their order.
    pub lessons: Vec<Lesson>,
    /// How what was learned before is voted on, if there is more than one lesson.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub voting: Option<VotingSettings>,
    /// Steps between two evaluations, rounded up to whole updates.
    pub evaluate_every: u64,
    /// Validation trials of an evaluation.
    pub evaluation_trials: u64,
    /// Validation trials of each lesson whose reward maps are kept.
    pub n_map_examples: usize,
    /// When reward maps are kept, in steps of a lesson.
    pub map_steps: Vec<u64>,
}

/// One task, and how an agent learns it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lesson {
    /// The task, as a task file.
    pub task: String,
    /// How match screens of moving templates are drawn.
    pub placements: String,
    /// The agent. Lessons of one stream differ in learning rate and policy only.
    pub agent: AgentSettings,
}

impl RunPlan {
    /// The agent at the first step.
    pub fn agent(&self) -> &AgentSettings {
        &self.lessons[0].agent
    }

    /// The version of this program's convolutions, if the agent has any.
    pub fn convolutions_version(&self) -> Option<u32> {
        let kind = find_module(&self.agent().module.id).ok()?;
        kind.is_convolutional().then_some(CONVOLUTION_VERSION)
    }
}

/// Everything that decides a run's numbers. Runs of equal identities end in the same bits on one machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunIdentity {
    /// The plan.
    pub plan: RunPlan,
    /// What the agent has learned before, if it is not new.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// Content hash of the images.
    pub data_hash: String,
    /// Content hash of the encoder.
    pub encoder_hash: String,
    /// Content hash of centring and scaling.
    pub calibration_hash: String,
    /// How this machine's instructions round; older runs name the instructions.
    #[serde(alias = "instructions")]
    pub rounding: String,
    /// Version of the program.
    pub program: String,
    /// Version of its convolutions, if the agent has any; runs of before there were two say nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub convolutions: Option<u32>,
}

/// Raised whenever the same identity would end in other bits, or its checkpoint would be read otherwise.
const RUN_VERSION: u32 = 7;
/// The same for convolutions alone. Since 2, weights of flattened numbers stand apart from those of touches.
const CONVOLUTION_VERSION: u32 = 2;

impl RunIdentity {
    /// Whether this program would read the run's checkpoint as it was written.
    pub fn is_of_this_version(&self) -> bool {
        self.convolutions == self.plan.convolutions_version()
    }

    /// One word for all of it.
    pub fn hash(&self) -> String {
        let json = serde_json::to_string(self).expect("an identity is plain data");
        blake3::hash(format!("run {RUN_VERSION} {json}").as_bytes()).to_hex().to_string()
    }
}
