//! Initial weights of modules.

use crate::module::structure::{Convolutions, Stage, Structure};
use serde::{Deserialize, Serialize};

/// How weights are drawn. Biases start at 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InitialWeights {
    /// N(0, 1 / n_in) for a stage of n_in inputs; weights of touches are divided by the touch scale, so that a module
    /// starts as the same function on any scale. Flattened features of convolutions have a scale too: their weights are
    /// N(0, 1 / n) divided by it, and n_in of the stage's other weights counts scale * n of them.
    ///
    /// Departs from the paper: with its N(0, 0.01), training starts on a long plateau unless touches are in pixels, because
    /// products of small weights pass on hardly any signal.
    #[default]
    FanIn,
    /// N(0, 0.01^2) everywhere, as printed in the paper.
    Paper,
}

const PAPER_DEVIATION: f32 = 0.01;

impl InitialWeights {
    /// Draws all parameters. `touch_scale` is the touch coordinate at the screen edge, `normal` returns draws from N(0, 1).
    pub fn draw(self, structure: &Structure, touch_scale: f32, mut normal: impl FnMut() -> f32) -> Vec<f32> {
        let mut parameters = vec![0.0; structure.n_parameters()];
        for stage in structure.convolutions() {
            self.draw_stage(
                stage,
                Deviations::new(self, stage, None),
                touch_scale,
                &mut parameters,
                &mut normal,
            );
        }
        for (idx, stage) in structure.stages().iter().enumerate() {
            let convolutions = structure.shape().convolutions.as_ref().filter(|_| idx == 0);
            let deviations = Deviations::new(self, stage, convolutions);
            if let Some(flattened) = structure.flattened().filter(|_| idx == 0) {
                parameters[flattened.weights()].fill_with(|| deviations.of_visual * normal());
            }
            self.draw_stage(stage, deviations, touch_scale, &mut parameters, &mut normal);
        }
        parameters
    }

    fn draw_stage(
        self,
        stage: &Stage,
        Deviations { of_visual, of_hidden }: Deviations,
        touch_scale: f32,
        parameters: &mut [f32],
        normal: &mut impl FnMut() -> f32,
    ) {
        let of_touch = match self {
            Self::FanIn => of_hidden / touch_scale,
            Self::Paper => PAPER_DEVIATION,
        };
        for row in parameters[stage.weights()].chunks_exact_mut(stage.n_in()) {
            let (visual, rest) = row.split_at_mut(stage.n_visual);
            let (hidden, touch) = rest.split_at_mut(stage.n_hidden);
            visual.fill_with(|| of_visual * normal());
            hidden.fill_with(|| of_hidden * normal());
            touch.fill_with(|| of_touch * normal());
        }
    }
}

/// Standard deviations of a stage's weights: of features, and of the stage before.
#[derive(Clone, Copy)]
struct Deviations {
    of_visual: f32,
    of_hidden: f32,
}

impl Deviations {
    /// `flattened`: the convolutions whose flattened output the stage reads.
    fn new(initial: InitialWeights, stage: &Stage, flattened: Option<&Convolutions>) -> Self {
        let scale = flattened.map_or(1.0, Convolutions::scale);
        let n_visual = flattened.map_or(stage.n_visual, Convolutions::n_flat) as f32;
        let n_rest = (stage.n_hidden + stage.n_touch) as f32;
        let [of_visual, of_hidden] = match initial {
            InitialWeights::FanIn if scale < 1.0 => {
                [1.0 / (scale * n_visual.sqrt()), 1.0 / (scale * n_visual + n_rest).sqrt()]
            }
            InitialWeights::FanIn => [1.0 / (n_visual + n_rest).sqrt(); 2],
            InitialWeights::Paper => [PAPER_DEVIATION; 2],
        };
        Self { of_visual, of_hidden }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::module::{FlattenedScale, LayerShape, MapShape, ModuleShape};
    use crate::nonlinearity::Nonlinearity::{Cres, Tanh};

    fn structure(flattened: FlattenedScale) -> Structure {
        let layer = |nonlinearity, n_units| LayerShape { nonlinearity, n_units };
        let shape = ModuleShape {
            scene_len: 5,
            k_b: 1,
            k_f: 2,
            convolutions: Some(Convolutions {
                map: MapShape { n_places: 9, n_channels: 6 },
                layers: vec![layer(Tanh, 3), layer(Cres, 4)],
                flattened,
            }),
            bottleneck: None,
            layers: vec![layer(Cres, 2)],
        };
        Structure::new(shape).unwrap()
    }

    /// The stage's weights of features, and the others.
    fn deviations(parameters: &[f32], stage: &Stage) -> (Vec<f32>, Vec<f32>) {
        let rows =
            || parameters[stage.weights()].chunks(stage.n_in()).map(|row| row.split_at(stage.n_visual));
        (
            rows().flat_map(|(visual, _)| visual).copied().collect(),
            rows().flat_map(|(_, rest)| rest).copied().collect(),
        )
    }

    #[track_caller]
    fn check_all(found: &[f32], wanted: f32) {
        assert!(
            !found.is_empty() && found.iter().all(|x| (x - wanted).abs() < 1e-6),
            "{found:?} for {wanted}"
        );
    }

    #[test]
    fn deviations_follow_the_scale_of_inputs() {
        let structure = structure(FlattenedScale::OnePlace);
        let parameters = InitialWeights::FanIn.draw(&structure, 4.0, || 1.0);
        // Two scene vectors of 5 and six channels.
        let (visual, rest) = deviations(&parameters, &structure.convolutions()[0]);
        check_all(&visual, 0.25);
        check_all(&rest, 0.25);
        // 9 x 16 flattened features of scale 1 / 9: 9 / 12. Touches, of scale 4: with 16 features of one place.
        let (_, rest) = deviations(&parameters, &structure.stages()[0]);
        check_all(&parameters[structure.flattened().unwrap().weights()], 0.75);
        check_all(&rest, 0.25 / 20.0_f32.sqrt());
        check_all(&deviations(&parameters, &structure.stages()[1]).1, 1.0 / 8.0_f32.sqrt());
        for stage in structure.convolutions().iter().chain(structure.stages()) {
            check_all(&parameters[stage.biases()], 0.0);
        }
    }

    #[test]
    fn printed_deviations_are_the_same_everywhere() {
        let structure = structure(FlattenedScale::One);
        let parameters = InitialWeights::Paper.draw(&structure, 4.0, || 1.0);
        for stage in structure.convolutions().iter().chain(structure.stages()) {
            check_all(&parameters[stage.weights()], 0.01);
        }
        check_all(&parameters[structure.flattened().unwrap().weights()], 0.01);
    }
}
