//! How a touch is chosen.

use serde::{Deserialize, Serialize};

/// How a touch is chosen from `k_f` maps over candidates.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PolicySettings {
    /// What turns a map into a distribution.
    pub dist: Dist,
    /// Of what `VarArgmax` takes the variance.
    pub variance_of: VarianceOf,
    /// What is done with the distribution.
    pub explore: Explore,
}

impl Default for PolicySettings {
    fn default() -> Self {
        Self { dist: Dist::Identity, variance_of: VarianceOf::Maps, explore: Explore::Sample }
    }
}

/// `Dist` of eq. 4: the function `f` of a map whose minimum was taken away.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dist {
    /// `f(x) = x`.
    Identity,
    /// `f(x) = e^(x / T)`.
    ///
    /// Departs from the paper, which prints `e^(-x / T)`: that would prefer low rewards.
    Boltzmann {
        /// T; predicted rewards are in [0, 1].
        temperature: f32,
    },
}

/// Of what the variance is taken to choose one of the maps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VarianceOf {
    /// Of predicted rewards. Departs from the paper's formula, by which maps that promise nothing often win.
    Maps,
    /// Of the distributions, as printed in eq. 2.
    Distributions,
}

/// How a touch is taken from the chosen map.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Explore {
    /// Drawn from the distribution: ReMaP.
    Sample,
    /// The best candidate of the chosen map, but with this probability any candidate.
    EpsilonGreedy {
        /// In [0, 1].
        epsilon: f32,
    },
    /// The best candidate of the chosen map.
    Greedy,
}
