//! Adam (Kingma and Ba, 2015), as published and as PyTorch computes it, with optional decoupled weight decay
//! (Loshchilov and Hutter, 2019).

use crate::arithmetic::{Arithmetic, N_BLOCK, N_LANES, SimdVector, load_from, store_from};
use crate::large_memory::AlignedNumbers;
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
    /// What an update takes off every parameter of a module: this share of it, times the learning rate.
    pub weight_decay: f64,
}

impl Default for AdamSettings {
    /// The paper's: no decay.
    fn default() -> Self {
        Self { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weight_decay: 0.0 }
    }
}

/// Means of gradients and of their squares, one each a parameter, and the number of updates so far.
#[derive(Clone, Debug, PartialEq)]
pub struct AdamState {
    /// Mean of gradients.
    pub mean: AlignedNumbers,
    /// Mean of squared gradients.
    pub square: AlignedNumbers,
    /// Updates done.
    pub n_updates: u64,
}

impl AdamState {
    /// Before the first update.
    pub fn new(n_parameters: usize) -> Self {
        let zeros = || AlignedNumbers::zeros(n_parameters);
        Self { mean: zeros(), square: zeros(), n_updates: 0 }
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
    /// What decay leaves of a parameter: `1 - learning_rate * weight_decay`
    keep: f32,
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
        let AdamSettings { beta1, beta2, epsilon, weight_decay } = settings;
        let t = i32::try_from(state.n_updates).unwrap_or(i32::MAX);
        let factors = Factors {
            beta1: beta1 as f32,
            beta2: beta2 as f32,
            rest1: (1.0 - beta1) as f32,
            rest2: (1.0 - beta2) as f32,
            rate: (learning_rate / (1.0 - beta1.powi(t))) as f32,
            root: (1.0 / (1.0 - beta2.powi(t)).sqrt()) as f32,
            epsilon: epsilon as f32,
            keep: (1.0 - learning_rate * weight_decay) as f32,
        };
        Self { parameters, mean: &mut state.mean, square: &mut state.square, factors }
    }
}

/// Below this a mean is taken for 0. A unit that is silent for long would otherwise end in denormal numbers, which
/// never reach 0 and cost a hundred times as much to multiply.
const SILENT: f32 = 1e-36;

/// Some parameters with their means.
#[derive(Clone, Copy)]
struct WithMeans<A: SimdVector> {
    parameter: A::V,
    mean: A::V,
    square: A::V,
}

impl Factors {
    #[inline(always)]
    fn step<A: SimdVector>(self, gradient: A::V, before: WithMeans<A>) -> WithMeans<A> {
        let constant = |number: f32| A::splat(number);
        let mean = A::mul_add(constant(self.beta1), before.mean, A::mul(constant(self.rest1), gradient));
        let new_square = A::mul(A::mul(constant(self.rest2), gradient), gradient);
        let square = A::mul_add(constant(self.beta2), before.square, new_square);
        let magnitude = A::max(mean, A::sub(A::zero(), mean));
        let mean = A::select_less(magnitude, constant(SILENT), A::zero(), mean);
        let square = A::select_less(square, constant(SILENT), A::zero(), square);
        let root = A::mul_add(A::sqrt(square), constant(self.root), constant(self.epsilon));
        let step = A::div(A::mul(constant(self.rate), mean), root);
        WithMeans { parameter: A::sub(A::mul(constant(self.keep), before.parameter), step), mean, square }
    }

    /// Updates parameters and their means in place.
    #[inline(always)]
    fn change<A: SimdVector>(self, g: &A::Memory, p: &mut A::Memory, m: &mut A::Memory, v: &mut A::Memory) {
        let before = WithMeans { parameter: A::load(p), mean: A::load(m), square: A::load(v) };
        let after = self.step::<A>(A::load(g), before);
        A::store(after.parameter, p);
        A::store(after.mean, m);
        A::store(after.square, v);
    }
}

impl UpdateRule for AdamUpdate<'_> {
    #[inline(always)]
    fn expect<A: Arithmetic>(&self, at: usize, len: usize) {
        for numbers in [&*self.parameters, &*self.mean, &*self.square] {
            A::prefetch(&numbers[at..at + len]);
        }
    }

    #[inline(always)]
    fn apply<A: Arithmetic>(&mut self, at: usize, gradient: &[f32]) {
        let place = at..at + gradient.len();
        let factors = self.factors;
        let (gradients, gradients_rest) = gradient.as_chunks::<N_BLOCK>();
        let (parameters, parameters_rest) = self.parameters[place.clone()].as_chunks_mut::<N_BLOCK>();
        let (means, means_rest) = self.mean[place.clone()].as_chunks_mut::<N_BLOCK>();
        let (squares, squares_rest) = self.square[place].as_chunks_mut::<N_BLOCK>();
        for (((g, p), m), v) in gradients.iter().zip(parameters).zip(means).zip(squares) {
            factors.change::<A::Blocks>(g, p, m, v);
        }
        for start in (0..gradients_rest.len()).step_by(N_LANES) {
            let before = WithMeans {
                parameter: load_from::<A>(parameters_rest, start),
                mean: load_from::<A>(means_rest, start),
                square: load_from::<A>(squares_rest, start),
            };
            let after = factors.step::<A>(load_from::<A>(gradients_rest, start), before);
            store_from::<A>(after.parameter, parameters_rest, start);
            store_from::<A>(after.mean, means_rest, start);
            store_from::<A>(after.square, squares_rest, start);
        }
    }
}
