//! `out += x W^T` for the inputs of a few steps: wide registers along the inputs.

use crate::arithmetic::{Arithmetic, Instructions, Kernel, N_LANES};
use crate::linear::{InputRows, Weights};

/// Units and steps that are summed side by side: twelve sums hide how long each takes, inputs and a weight fill all other
/// registers.
const UNITS: usize = 4;
const STEPS: usize = 3;
/// Inputs after which sums are put down: so many of 4 + 3 rows stay in the first cache.
const INPUTS: usize = 1024;

/// Adds `W x` of each step: `out` is `[n_steps, n_out]`.
pub(crate) fn add_products<'a>(
    instructions: Instructions,
    weights: Weights<'_>,
    inputs: impl InputRows<'a>,
    out: &mut [f32],
) {
    instructions.run(Products { weights, inputs, out });
}

struct Products<'w, 'o, R> {
    weights: Weights<'w>,
    inputs: R,
    out: &'o mut [f32],
}

impl<'a, R: InputRows<'a>> Kernel for Products<'_, '_, R> {
    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let n_out = self.weights.n_out();
        let n_steps = self.out.len() / n_out;
        for first in (0..self.weights.n_cols).step_by(INPUTS) {
            let cols = first..self.weights.n_cols.min(first + INPUTS);
            for unit in (0..n_out).step_by(UNITS) {
                for step in (0..n_steps).step_by(STEPS) {
                    // Where fewer are left, the last stands for those that are not there.
                    let rows: [&[f32]; UNITS] =
                        std::array::from_fn(|i| &self.weights.row((unit + i).min(n_out - 1))[cols.clone()]);
                    let xs: [&[f32]; STEPS] =
                        std::array::from_fn(|i| &self.inputs.row((step + i).min(n_steps - 1))[cols.clone()]);
                    let sums = dot_products::<A>(rows, xs);
                    for (sums, step) in sums.iter().zip(step..n_steps) {
                        for (sum, unit) in sums.iter().zip(unit..n_out) {
                            self.out[step * n_out + unit] += sum;
                        }
                    }
                }
            }
        }
    }
}

/// `[step][unit]`
#[inline(always)]
fn dot_products<A: Arithmetic>(rows: [&[f32]; UNITS], xs: [&[f32]; STEPS]) -> [[f32; UNITS]; STEPS] {
    let n_chunks = rows[0].len() / N_LANES;
    let row_chunks = rows.map(|row| &row.as_chunks::<N_LANES>().0[..n_chunks]);
    let x_chunks = xs.map(|x| &x.as_chunks::<N_LANES>().0[..n_chunks]);
    let mut sums = [[A::zero(); UNITS]; STEPS];
    for i in 0..n_chunks {
        let x: [A::V; STEPS] = std::array::from_fn(|step| A::load(&x_chunks[step][i]));
        for unit in 0..UNITS {
            let w = A::load(&row_chunks[unit][i]);
            for step in 0..STEPS {
                sums[step][unit] = A::mul_add(w, x[step], sums[step][unit]);
            }
        }
    }
    let n = n_chunks * N_LANES;
    let mut dots = [[0.0; UNITS]; STEPS];
    for step in 0..STEPS {
        for unit in 0..UNITS {
            let rest = rows[unit][n..].iter().zip(&xs[step][n..]);
            let dot = A::sum(sums[step][unit]);
            dots[step][unit] = rest.fold(dot, |dot, (w, x)| A::mul_add_one(*w, *x, dot));
        }
    }
    dots
}
