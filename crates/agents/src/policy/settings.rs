//! Settings of the policy.

use serde::{Deserialize, Serialize};

/// How a touch is chosen from `k_f` reward maps.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PolicySettings {
    pub dist: Dist,
    pub variance_of: VarianceOf,
    pub explore: Explore,
}

impl Default for PolicySettings {
    fn default() -> Self {
        Self { dist: Dist::Identity, variance_of: VarianceOf::Maps, explore: Explore::Sample }
    }
}

/// `Dist` (eq. 4): the function `f` of a map minus its minimum.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dist {
    /// `f(x) = x`.
    Identity,
    /// `f(x) = e^(x / T)`.
    ///
    /// Departs from the paper, which prints `e^(-x / T)`: that prefers low rewards.
    Boltzmann {
        /// T; predicted rewards are in [0, 1].
        temperature: f32,
    },
}

/// The variance by which `VarArgmax` chooses a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VarianceOf {
    /// Of predicted rewards. Departs from the paper's formula, which often chooses maps that predict no reward.
    Maps,
    /// Of the distributions, as printed in eq. 2.
    Distributions,
}

/// How a touch is chosen from a map.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Explore {
    /// Sampled from the distribution: ReMaP.
    Sample,
    /// With probability `epsilon` a uniformly random candidate, else the best one.
    EpsilonGreedy {
        /// In [0, 1].
        epsilon: f32,
    },
    /// The candidate with the highest predicted reward.
    Greedy,
}
