//! What the weights of a module are before it has learned anything.

use crate::module::structure::{Convolutions, Structure};
use serde::{Deserialize, Serialize};

/// How weights are drawn. Biases start at 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InitialWeights {
    /// N(0, 1 / n_in) for a stage of n_in inputs; scaled inputs count the square of their scale.
    ///
    /// Departs from the paper: its N(0, 0.01) starts on a long plateau, where products of small numbers hardly pass
    /// anything on.
    #[default]
    FanIn,
    /// N(0, 0.01^2) everywhere, as printed.
    Paper,
}

/// The paper's deviation.
const PAPER_DEVIATION: f32 = 0.01;

impl InitialWeights {
    /// Draws all parameters of a structure; `normal` gives numbers of N(0, 1).
    pub fn draw(self, structure: &Structure, mut normal: impl FnMut() -> f32) -> Vec<f32> {
        let mut parameters = vec![0.0; structure.n_parameters()];
        let flattened = structure.shape().convolutions.as_ref();
        for (idx, stage) in structure.convolutions().iter().chain(structure.stages()).enumerate() {
            let scale =
                flattened.filter(|_| idx == structure.convolutions().len()).map_or(1.0, Convolutions::scale);
            let fan_in = scale * scale * stage.n_visual as f32 + (stage.n_hidden + stage.n_touch) as f32;
            let deviation = match self {
                Self::FanIn => 1.0 / fan_in.sqrt(),
                Self::Paper => PAPER_DEVIATION,
            };
            parameters[stage.weights()].fill_with(|| deviation * normal());
        }
        parameters
    }
}
