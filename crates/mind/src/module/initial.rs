//! What the weights of a module are before it has learned anything.

use crate::module::structure::{Convolutions, Structure};
use serde::{Deserialize, Serialize};

/// How weights are drawn. Biases start at 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InitialWeights {
    /// N(0, 1 / n_in) for a stage of n_in inputs. Behind convolutions, flattened numbers start as N(0, 1 / n) of what each
    /// counts, and touches as beside the numbers of one place.
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
            let (n_seen, n_rest) = (stage.n_visual as f32, (stage.n_hidden + stage.n_touch) as f32);
            let [of_seen, of_rest] = match self {
                Self::FanIn if scale < 1.0 => {
                    [1.0 / (scale * n_seen.sqrt()), 1.0 / (scale * n_seen + n_rest).sqrt()]
                }
                Self::FanIn => [1.0 / (n_seen + n_rest).sqrt(); 2],
                Self::Paper => [PAPER_DEVIATION; 2],
            };
            for row in parameters[stage.weights()].chunks_exact_mut(stage.n_in()) {
                let (seen, rest) = row.split_at_mut(stage.n_visual);
                seen.fill_with(|| of_seen * normal());
                rest.fill_with(|| of_rest * normal());
            }
        }
        parameters
    }
}
