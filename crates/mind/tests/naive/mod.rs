//! The equations of modules, written as they are printed, in f64 and without any cleverness.

#[allow(dead_code)]
pub mod composite;

use touchstream_mind::Nonlinearity;
use touchstream_mind::module::{ModuleShape, Structure};

/// A module as a function of all its parameters.
pub struct NaiveModule<'a> {
    pub structure: &'a Structure,
    pub parameters: Vec<f64>,
}

impl NaiveModule<'_> {
    /// `psi` is `[(k_b + 1) scene_len]`, `touches` is `[2 (k_b + 1)]`, both oldest first; `k_f` logits.
    pub fn logits(&self, psi: &[f64], touches: &[f64]) -> Vec<f64> {
        let tensors: Vec<_> = self.structure.tensors().collect();
        let ModuleShape { bottleneck, layers, .. } = self.structure.shape();
        let mut tensors = tensors.chunks(2);
        let mut linear = |x: &[f64]| -> Vec<f64> {
            let [weight, bias] = tensors.next().unwrap() else { panic!("weight and bias") };
            assert_eq!(weight.shape[1], x.len(), "{}", weight.name);
            let rows = self.parameters[weight.range.clone()].chunks(x.len());
            let biases = &self.parameters[bias.range.clone()];
            rows.zip(biases).map(|(row, b)| row.iter().zip(x).map(|(w, x)| w * x).sum::<f64>() + b).collect()
        };
        let mut x = match bottleneck {
            Some(layer) => apply(layer.nonlinearity, &linear(psi)),
            None => psi.to_vec(),
        };
        x.extend(touches);
        for layer in layers {
            x = apply(layer.nonlinearity, &linear(&x));
        }
        linear(&x)
    }
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
