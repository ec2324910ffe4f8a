//! How a controller votes, starts and learns.

use serde::{Deserialize, Serialize};

/// Who is voted on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Voting {
    /// Whole stages of modules (eq. 6 and 7).
    #[default]
    Layer,
    /// Each number of a stage for itself (eq. 8 and 9).
    Unit,
}

/// Everything about a controller that is decided before it starts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct VotingSettings {
    /// Who is voted on.
    pub voting: Voting,
    /// Vote weights of old modules start at |N(mu, 0.001^2)|: at the first stage, and behind it.
    pub mu: [f32; 2],
    /// And their biases at: at the first stage, and behind it.
    pub bias: [f32; 2],
    /// Whether old modules are also voted on with touches that are transformed first.
    pub transforms_actions: bool,
    /// Whether old modules are also voted on with reward maps that are transformed.
    pub transforms_maps: bool,
    /// Where the bias of transformed touches starts, in the numbers that modules read. The paper's 1 is one pixel if these are
    /// pixels, and half a screen where the screen's edge is at 1.
    pub action_bias: f32,
    /// Whether a transformed map starts as the map itself also where its logits are below 0. As printed, only positive
    /// ones pass.
    pub passes_negative_maps: bool,
    /// Learning rate of votes, in learning rates of the module.
    pub vote_rate: f64,
    /// Learning rate of transformed touches.
    pub action_rate: f64,
    /// Learning rate of transformed maps.
    pub map_rate: f64,
}

impl Default for VotingSettings {
    fn default() -> Self {
        Self::of(Voting::Layer)
    }
}

impl VotingSettings {
    /// Our defaults.
    pub fn of(voting: Voting) -> Self {
        Self {
            voting,
            mu: [0.01; 2],
            bias: [0.1; 2],
            transforms_actions: true,
            transforms_maps: true,
            action_bias: 0.0,
            passes_negative_maps: true,
            vote_rate: if voting == Voting::Unit { 10.0 } else { 1.0 },
            action_rate: 0.01,
            map_rate: 0.003,
        }
    }

    /// The values that the paper prints, where they are not the defaults.
    pub fn as_printed(self) -> Self {
        Self { action_bias: 1.0, passes_negative_maps: false, action_rate: 0.1, map_rate: 0.01, ..self }
    }

    /// Without transformations: voting alone.
    pub fn without_transformations(self) -> Self {
        Self { transforms_actions: false, transforms_maps: false, ..self }
    }
}
