//! The equations of modules, written as they are printed, in f64 and without any cleverness.

#[allow(dead_code)]
pub mod composite;

use touchstream_modules::Nonlinearity;
use touchstream_modules::module::{Flattened, Stage, Structure};

/// A module as a function of all its parameters.
pub struct NaiveModule<'a> {
    pub structure: &'a Structure,
    pub parameters: Vec<f64>,
}

impl NaiveModule<'_> {
    /// `psi` is `[(k_b + 1) scene_len]`, `touches` is `[2 (k_b + 1)]`, both oldest first; `map` is `[n_places,
    /// n_channels]`; `k_f` logits.
    pub fn logits(&self, psi: &[f64], map: &[f64], touches: &[f64]) -> Vec<f64> {
        let mut x = seen(self.structure, &self.parameters, psi, map);
        for (idx, stage) in self.structure.stages().iter().enumerate() {
            if idx == self.structure.touch_stage() {
                x.extend(touches);
            }
            x = stage_numbers(self.structure, stage, &self.parameters, &x);
        }
        x
    }
}

/// What the first stage reads: scene vectors, or the flattened convolutions.
pub fn seen(structure: &Structure, parameters: &[f64], psi: &[f64], map: &[f64]) -> Vec<f64> {
    let Some(convolutions) = &structure.shape().convolutions else { return psi.to_vec() };
    let places = map.chunks(convolutions.map.n_channels).map(|channels| {
        // Scene vectors are tiled onto the channels of every place.
        let tiled = [psi, channels].concat();
        structure
            .convolutions()
            .iter()
            .fold(tiled, |x, stage| stage_numbers(structure, stage, parameters, &x))
    });
    let scale = f64::from(convolutions.scale());
    places.flatten().map(|x| scale * x).collect()
}

/// `f(W x + b)`
pub fn stage_numbers(structure: &Structure, stage: &Stage, parameters: &[f64], x: &[f64]) -> Vec<f64> {
    let (rows, biases) = (rows_of(structure, stage, parameters), &parameters[stage.biases()]);
    let sum_of = |(row, b): (Vec<f64>, &f64)| {
        assert_eq!(row.len(), x.len(), "{}", stage.name);
        row.iter().zip(x).map(|(w, x)| w * x).sum::<f64>() + b
    };
    let sums: Vec<f64> = rows.into_iter().zip(biases).map(sum_of).collect();
    stage.nonlinearity.map_or(sums.clone(), |nonlinearity| apply(nonlinearity, &sums))
}

/// The weights of a stage, one row per unit. Weights of flattened features are stored separately and transposed; in a row they
/// are ordered part by part.
fn rows_of(structure: &Structure, stage: &Stage, parameters: &[f64]) -> Vec<Vec<f64>> {
    let rows: Vec<Vec<f64>> = parameters[stage.weights()].chunks(stage.n_in()).map(<[f64]>::to_vec).collect();
    let Some(flattened) = structure.flattened().filter(|_| stage.name == structure.stages()[0].name) else {
        return rows;
    };
    let &Flattened { n_places, n_channels, n_parts, n_units, .. } = flattened;
    let weights = &parameters[flattened.weights()];
    let of_unit = |unit: usize| {
        let numbers = (0..n_places).flat_map(|place| {
            (0..n_parts).flat_map(move |part| (0..n_channels).map(move |channel| (place, part, channel)))
        });
        numbers
            .map(|(place, part, channel)| {
                weights[((place * n_channels + channel) * n_parts + part) * n_units + unit]
            })
            .collect::<Vec<f64>>()
    };
    rows.into_iter().enumerate().map(|(unit, rest)| [of_unit(unit), rest].concat()).collect()
}

fn relu(x: f64) -> f64 {
    x.max(0.0)
}

pub fn apply(nonlinearity: Nonlinearity, x: &[f64]) -> Vec<f64> {
    let parts: &[fn(f64) -> f64] = match nonlinearity {
        Nonlinearity::Relu => &[relu],
        Nonlinearity::Tanh => &[f64::tanh],
        Nonlinearity::Sigmoid => &[|x| 1.0 / (1.0 + (-x).exp())],
        Nonlinearity::Elu => &[|x| if x > 0.0 { x } else { x.exp() - 1.0 }],
        Nonlinearity::Crelu => &[relu, |x| relu(-x)],
        Nonlinearity::Cres => &[relu, |x| relu(-x), |x| relu(x).powi(2), |x| relu(-x).powi(2)],
        Nonlinearity::ReluSq => &[relu, |x| x * x],
        Nonlinearity::Sq => &[|x| x, |x| x * x],
    };
    parts.iter().flat_map(|part| x.iter().map(|&x| part(x))).collect()
}

/// Cross-entropy of a predicted probability and a reward.
pub fn cross_entropy(logit: f64, reward: f64) -> f64 {
    let log_sigmoid = |z: f64| -(1.0 + (-z).exp()).ln();
    -reward * log_sigmoid(logit) - (1.0 - reward) * log_sigmoid(-logit)
}
