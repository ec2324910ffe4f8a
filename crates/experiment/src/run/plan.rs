//! The plan of a run, and its identity.

use serde::{Deserialize, Serialize};
use touchstream_agents::{AgentSettings, ModuleChoice, find_module};
use touchstream_modules::Nonlinearity;
use touchstream_modules::composite::VotingSettings;

/// What a run learns, for how long, and what it records.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunPlan {
    /// A multiple of the steps between two updates.
    pub n_steps: u64,
    /// Seed of weights, trials, candidates and choices.
    pub seed: u64,
    /// The tasks of the stream, in order.
    pub lessons: Vec<Lesson>,
    /// How old modules are voted on, if there is more than one task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub voting: Option<VotingSettings>,
    /// Steps between two evaluations, rounded up to whole updates.
    pub evaluate_every: u64,
    pub evaluation_trials: u64,
    /// Validation trials per task whose reward maps are kept.
    pub n_map_examples: usize,
    /// When reward maps are kept, in steps since the task began.
    pub map_steps: Vec<u64>,
}

/// One task, and how an agent learns it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lesson {
    /// The text of a task file.
    pub task: String,
    /// How match screens of moving templates are drawn.
    pub placements: String,
    /// Within a stream, only learning rate and policy differ between tasks.
    pub agent: AgentSettings,
}

impl RunPlan {
    /// The agent at the first step.
    pub fn agent(&self) -> &AgentSettings {
        &self.lessons[0].agent
    }

    pub fn convolutions_version(&self) -> Option<u32> {
        convolutions_version(&self.agent().module)
    }
}

/// Everything that determines a run's results. On one machine, runs of equal identity end with the same bits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunIdentity {
    pub plan: RunPlan,
    /// What the agent has learned before, if it is not new.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    pub data_hash: String,
    pub encoder_hash: String,
    /// Hash of centring and scaling.
    pub calibration_hash: String,
    /// How this machine's instructions round.
    pub rounding: String,
    /// Version of the program.
    pub program: String,
    /// Version of the program's convolutions, if the agent has any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub convolutions: Option<u32>,
}

/// To be increased when the same identity gives other bits, or its checkpoint has another meaning.
const RUN_VERSION: u32 = 7;
/// The same for convolutions. Since 3, layers that read CReS sum in another order, except those of 128 units: they keep
/// version 2.
const CONVOLUTION_VERSION: u32 = 3;
/// Since this version, the weights of the flattened features have their own tensor.
const FLATTENED_TENSOR_VERSION: u32 = 2;

impl RunIdentity {
    /// Whether the run's weights have the order that this program gives them.
    pub fn has_order_of_weights(&self) -> bool {
        let is_convolutional = self.plan.convolutions_version().is_some();
        match self.convolutions {
            Some(version) => is_convolutional && version >= FLATTENED_TENSOR_VERSION,
            None => !is_convolutional,
        }
    }

    pub fn hash(&self) -> String {
        let json = serde_json::to_string(self).expect("an identity is plain data");
        blake3::hash(format!("run {RUN_VERSION} {json}").as_bytes()).to_hex().to_string()
    }
}

fn convolutions_version(module: &ModuleChoice) -> Option<u32> {
    let kind = find_module(&module.id).ok().filter(|kind| kind.is_convolutional())?;
    let readers = kind.convolutions.iter().zip(module.units.iter().skip(1));
    let mut widths = readers.filter(|(read, _)| **read == Nonlinearity::Cres).map(|(_, n_units)| *n_units);
    Some(if widths.all(|n_units| n_units == 128) { 2 } else { CONVOLUTION_VERSION })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_of_128_units_that_read_cres_keep_their_version() {
        let version = |id: &str, units: [usize; 5]| {
            convolutions_version(&ModuleChoice { id: id.into(), units: units.into() })
        };
        assert_eq!(version("conv-ems", [128; 5]), Some(2));
        // They read a map, tanh, or no convolution.
        assert_eq!(version("conv-ems", [32, 64, 128, 128, 16]), Some(2));
        assert_eq!(version("conv-ems", [128, 128, 64, 128, 128]), Some(3));
        assert_eq!(version("conv-ems", [128, 128, 128, 100, 128]), Some(3));
        assert_eq!(version("ems", [128; 5]), None);
    }
}
