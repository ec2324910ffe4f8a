//! Settings of a controller: voting, initial values, learning rates.

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Voting {
    /// One vote per stage and voter (eq. 6 and 7).
    #[default]
    Layer,
    /// One vote per activation and voter (eq. 8 and 9).
    Unit,
}

/// Settings of a controller.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct VotingSettings {
    pub voting: Voting,
    /// Vote weights of old modules start at |N(mu, 0.001^2)|: at the first stage, and at later ones.
    pub mu: [f32; 2],
    /// Initial vote biases of old modules: at the first stage, and at later ones.
    pub bias: [f32; 2],
    /// Whether copies of old modules with transformed touches vote too.
    pub transforms_actions: bool,
    /// Whether copies of old modules with transformed reward maps vote too.
    pub transforms_maps: bool,
    /// Initial bias of transformed touches, in touch coordinates. The paper's 1 is one pixel if these are pixels, and half a
    /// screen if the screen edge is at 1.
    pub action_bias: f32,
    /// Whether a transformed map starts as the identity for negative logits too. In the paper, only positive logits pass.
    pub passes_negative_maps: bool,
    /// Learning rate of votes, as a multiple of the module's.
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

    /// The values printed in the paper.
    pub fn as_printed(self) -> Self {
        Self { action_bias: 1.0, passes_negative_maps: false, action_rate: 0.1, map_rate: 0.01, ..self }
    }

    pub fn without_transformations(self) -> Self {
        Self { transforms_actions: false, transforms_maps: false, ..self }
    }
}
