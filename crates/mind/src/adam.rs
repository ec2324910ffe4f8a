//! Adam (Kingma and Ba, 2015), as it is written down there and as PyTorch computes it.

use crate::instructions::Arithmetic;
use crate::lanes::N_LANES;
use crate::linear::weight_update::UpdateRule;
use serde::{Deserialize, Serialize};

/// Adam's constants.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AdamSettings {
    /// How slowly the mean of gradients forgets.
    pub beta1: f64,
    /// How slowly the mean of their squares forgets.
    pub beta2: f64,
    /// Added to the root.
    pub epsilon: f64,
}

impl Default for AdamSettings {
    /// The paper's.
    fn default() -> Self {
        Self { beta1: 0.9, beta2: 0.999, epsilon: 1e-8 }
    }
}

/// Means of gradients and of their squares, one each a parameter, and the number of updates so far.
#[derive(Clone, Debug, PartialEq)]
pub struct AdamState {
    /// Mean of gradients.
    pub mean: Vec<f32>,
    /// Mean of squared gradients.
    pub square: Vec<f32>,
    /// Updates done.
    pub n_updates: u64,
}

impl AdamState {
    /// Before the first update.
    pub fn new(n_parameters: usize) -> Self {
        Self { mean: vec![0.0; n_parameters], square: vec![0.0; n_parameters], n_updates: 0 }
    }
}

/// One update, under way: a rule that takes gradients and moves parameters.
pub(crate) struct AdamUpdate<'a> {
    parameters: &'a mut [f32],
    mean: &'a mut [f32],
    square: &'a mut [f32],
    factors: Factors,
}

/// What an update multiplies by; the same for all parameters.
#[derive(Clone, Copy)]
struct Factors {
    beta1: f32,
    beta2: f32,
    /// 1 - beta.
    rest1: f32,
    rest2: f32,
    /// `learning_rate / (1 - beta1^t)`
    rate: f32,
    /// `1 / sqrt(1 - beta2^t)`
    root: f32,
    epsilon: f32,
}

impl<'a> AdamUpdate<'a> {
    /// Counts the update.
    pub fn begin(
        settings: AdamSettings,
        learning_rate: f64,
        parameters: &'a mut [f32],
        state: &'a mut AdamState,
    ) -> Self {
        state.n_updates += 1;
        let AdamSettings { beta1, beta2, epsilon } = settings;
        let t = i32::try_from(state.n_updates).unwrap_or(i32::MAX);
        let factors = Factors {
            beta1: beta1 as f32,
            beta2: beta2 as f32,
            rest1: (1.0 - beta1) as f32,
            rest2: (1.0 - beta2) as f32,
            rate: (learning_rate / (1.0 - beta1.powi(t))) as f32,
            root: (1.0 / (1.0 - beta2.powi(t)).sqrt()) as f32,
            epsilon: epsilon as f32,
        };
        Self { parameters, mean: &mut state.mean, square: &mut state.square, factors }
    }
}

/// Below this a mean is taken for 0. A unit that is silent for long would otherwise end in denormal numbers, which
/// never reach 0 and cost a hundred times as much to multiply.
const SILENT: f32 = 1e-36;

impl Factors {
    #[inline(always)]
    fn step<A: Arithmetic>(self, gradient: f32, parameter: &mut f32, mean: &mut f32, square: &mut f32) {
        let m = A::mul_add(self.beta1, *mean, self.rest1 * gradient);
        let v = A::mul_add(self.beta2, *square, self.rest2 * gradient * gradient);
        let m = if m.abs() < SILENT { 0.0 } else { m };
        let v = if v < SILENT { 0.0 } else { v };
        *mean = m;
        *square = v;
        *parameter -= self.rate * m / A::mul_add(v.sqrt(), self.root, self.epsilon);
    }
}

impl UpdateRule for AdamUpdate<'_> {
    #[inline(always)]
    fn apply<A: Arithmetic>(&mut self, at: usize, gradient: &[f32]) {
        let place = at..at + gradient.len();
        let factors = self.factors;
        let (gradients, rest) = gradient.as_chunks::<N_LANES>();
        let (parameters, parameters_rest) = self.parameters[place.clone()].as_chunks_mut::<N_LANES>();
        let (means, means_rest) = self.mean[place.clone()].as_chunks_mut::<N_LANES>();
        let (squares, squares_rest) = self.square[place].as_chunks_mut::<N_LANES>();
        for (((g, p), m), v) in gradients.iter().zip(parameters).zip(means).zip(squares) {
            for i in 0..N_LANES {
                factors.step::<A>(g[i], &mut p[i], &mut m[i], &mut v[i]);
            }
        }
        let rest = rest.iter().zip(parameters_rest).zip(means_rest).zip(squares_rest);
        rest.for_each(|(((g, p), m), v)| factors.step::<A>(*g, p, m, v));
    }
}
