//! `dx = d W`: the gradient of a layer's inputs.

use crate::arithmetic::{Arithmetic, Instructions, Kernel, N_LANES};
use crate::linear::Weights;

/// Inputs and steps that are summed side by side.
const CHUNKS: usize = 4;
const STEPS: usize = 2;

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

/// Inputs whose weights stay near while all steps go over them.
const NEAR: usize = 512;

impl Kernel for InputGradient<'_> {
    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        const WIDTH: usize = CHUNKS * N_LANES;
        let Self { weights, d, dx } = self;
        let (n_out, n_cols) = (weights.n_out(), weights.n_cols);
        let n_wide = n_cols / WIDTH * WIDTH;
        for near in (0..n_wide).step_by(NEAR) {
            for (d, dx) in d.chunks(STEPS * n_out).zip(dx.chunks_mut(STEPS * n_cols)) {
                let n_steps = d.len() / n_out;
                for start in (near..n_wide.min(near + NEAR)).step_by(WIDTH) {
                    let mut sums = [[A::zero(); CHUNKS]; STEPS];
                    for unit in 0..n_out {
                        let w = weights.row(unit)[start..start + WIDTH].as_chunks::<N_LANES>().0;
                        let w: [A::V; CHUNKS] = std::array::from_fn(|chunk| A::load(&w[chunk]));
                        for (step, sums) in sums.iter_mut().enumerate() {
                            let d = A::splat(d[step.min(n_steps - 1) * n_out + unit]);
                            for (sum, &w) in sums.iter_mut().zip(&w) {
                                *sum = A::mul_add(d, w, *sum);
                            }
                        }
                    }
                    for (dx, sums) in dx.chunks_exact_mut(n_cols).zip(&sums) {
                        let (dx, _) = dx[start..start + WIDTH].as_chunks_mut::<N_LANES>();
                        dx.iter_mut().zip(sums).for_each(|(dx, &sum)| A::store(sum, dx));
                    }
                }
            }
        }
        for (d, dx) in d.chunks_exact(n_out).zip(dx.chunks_exact_mut(n_cols)) {
            let rest = &mut dx[n_wide..];
            rest.fill(0.0);
            for (unit, &d) in d.iter().enumerate() {
                let w = &weights.row(unit)[n_wide..];
                rest.iter_mut().zip(w).for_each(|(sum, w)| *sum = A::mul_add_one(d, *w, *sum));
            }
        }
    }
}
