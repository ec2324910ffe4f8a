//! `out += x W^T` for the inputs of a few steps: wide registers along the inputs.

use crate::instructions::{Arithmetic, Instructions, Kernel};
use crate::lanes::{Lanes, N_LANES, ZERO, each, sum};
use crate::linear::{InputRows, Weights};

/// Units and steps that are summed side by side: with their 4 + 3 inputs they just fit the registers.
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
                    let rows: [&[f32]; UNITS] = std::array::from_fn(|i| {
                        &self.weights.row((unit + i).min(n_out - 1))[cols.clone()]
                    });
                    let xs: [&[f32]; STEPS] = std::array::from_fn(|i| {
                        &self.inputs.row((step + i).min(n_steps - 1))[cols.clone()]
                    });
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
    let n = rows[0].len() / N_LANES * N_LANES;
    let whole = |row: &'_ [f32]| -> usize { row.len().min(n) };
    let rows_lanes = rows.map(|row| row[..whole(row)].as_chunks::<N_LANES>().0);
    let xs_lanes = xs.map(|x| x[..n].as_chunks::<N_LANES>().0);
    let mut sums: [[Lanes; UNITS]; STEPS] = [[ZERO; UNITS]; STEPS];
    let n_chunks = n / N_LANES;
    let [w0, w1, w2, w3] = rows_lanes.map(|row| &row[..n_chunks]);
    let [x0, x1, x2] = xs_lanes.map(|x| &x[..n_chunks]);
    for i in 0..n_chunks {
        let ws = [&w0[i], &w1[i], &w2[i], &w3[i]];
        for (sums, x) in sums.iter_mut().zip([&x0[i], &x1[i], &x2[i]]) {
            for (sum, w) in sums.iter_mut().zip(ws) {
                *sum = each(|lane| A::mul_add(w[lane], x[lane], sum[lane]));
            }
        }
    }
    std::array::from_fn(|step| {
        std::array::from_fn(|unit| {
            let rest = rows[unit][n..].iter().zip(&xs[step][n..]);
            rest.fold(sum(&sums[step][unit]), |sum, (w, x)| A::mul_add(*w, *x, sum))
        })
    })
}
