//! `dx = d W`: the gradient of a layer's inputs.

use crate::arithmetic::{Arithmetic, Instructions, Kernel, N_LANES};
use crate::linear::Weights;

/// Inputs and steps of a tile: twelve accumulators.
const CHUNKS: usize = 4;
const STEPS: usize = 3;
const WIDTH: usize = CHUNKS * N_LANES;

/// Sets `dx`, `[n_steps, n_cols]`, from `d`, `[n_steps, n_out]`.
pub(crate) fn set_input_gradient(
    instructions: Instructions,
    weights: Weights<'_>,
    d: &[f32],
    dx: &mut [f32],
) {
    instructions.run(InputGradient { weights, d, dx });
}

struct InputGradient<'a> {
    weights: Weights<'a>,
    d: &'a [f32],
    dx: &'a mut [f32],
}

impl Kernel for InputGradient<'_> {
    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let Self { weights, d, dx } = self;
        let (n_out, n_cols) = (weights.n_out(), weights.n_cols);
        let n_strips = n_cols / WIDTH * WIDTH;
        // Inputs in the outer loop: their weights are read from memory once and stay in the cache for all steps.
        for start in (0..n_strips).step_by(WIDTH) {
            strip::<A>(weights, start, d, dx);
        }
        for (d, dx) in d.chunks_exact(n_out).zip(dx.chunks_exact_mut(n_cols)) {
            let rest = &mut dx[n_strips..];
            rest.fill(0.0);
            for (unit, &d) in d.iter().enumerate() {
                let w = &weights.row(unit)[n_strips..];
                rest.iter_mut().zip(w).for_each(|(sum, w)| *sum = A::mul_add_one(d, *w, *sum));
            }
        }
    }
}

/// The gradient of some inputs, from a column on, at all steps.
#[inline(always)]
fn strip<A: Arithmetic>(weights: Weights<'_>, col: usize, d: &[f32], dx: &mut [f32]) {
    let (n_out, n_cols) = (weights.n_out(), weights.n_cols);
    for (d, dx) in d.chunks(STEPS * n_out).zip(dx.chunks_mut(STEPS * n_cols)) {
        let n_steps = d.len() / n_out;
        let mut sums = [[A::zero(); CHUNKS]; STEPS];
        for unit in 0..n_out {
            let w = weights.row(unit)[col..col + WIDTH].as_chunks::<N_LANES>().0;
            let w: [A::V; CHUNKS] = std::array::from_fn(|chunk| A::load(&w[chunk]));
            for (step, sums) in sums.iter_mut().enumerate() {
                // Where fewer are left, the last stands for those that are not there.
                let d = A::splat(d[step.min(n_steps - 1) * n_out + unit]);
                for (sum, &w) in sums.iter_mut().zip(&w) {
                    *sum = A::mul_add(d, w, *sum);
                }
            }
        }
        for (dx, sums) in dx.chunks_exact_mut(n_cols).zip(&sums) {
            let (dx, _) = dx[col..col + WIDTH].as_chunks_mut::<N_LANES>();
            dx.iter_mut().zip(sums).for_each(|(dx, &sum)| A::store(sum, dx));
        }
    }
}
