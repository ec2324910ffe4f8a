//! `out += x W^T` for the inputs of a few steps: wide registers along the inputs, two steps side by side.

use crate::arithmetic::{Arithmetic, Instructions, Kernel, Lanes, N_LANES, SimdBlock, SimdVector};
use crate::linear::{InputRows, Weights};

/// Inputs after which partial sums are stored: that many of a tile's rows stay in the first-level cache.
const INPUTS: usize = 1024;
/// Chunks of eight inputs per bounds check.
const GROUPED: usize = 8;

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
        let n_steps = self.out.len() / self.weights.n_out();
        // As many accumulators as there are registers for; the bits do not depend on it.
        match A::HAS_32_REGISTERS && n_steps > 2 {
            true => self.tiles::<A, 8, 2>(),
            false => self.tiles::<A, 4, 1>(),
        }
    }
}

impl<'a, R: InputRows<'a>> Products<'_, '_, R> {
    /// Tiles of `UNITS` units and `PAIRS` pairs of steps.
    #[inline(always)]
    fn tiles<A: Arithmetic, const UNITS: usize, const PAIRS: usize>(self) {
        let n_out = self.weights.n_out();
        let n_steps = self.out.len() / n_out;
        for first in (0..self.weights.n_cols).step_by(INPUTS) {
            let cols = first..self.weights.n_cols.min(first + INPUTS);
            for unit in (0..n_out).step_by(UNITS) {
                for step in (0..n_steps).step_by(2 * PAIRS) {
                    // Where fewer are left, the last is computed several times.
                    let rows: [&[f32]; UNITS] =
                        std::array::from_fn(|i| &self.weights.row((unit + i).min(n_out - 1))[cols.clone()]);
                    let x = |step: usize| &self.inputs.row(step.min(n_steps - 1))[cols.clone()];
                    let xs: [[&[f32]; 2]; PAIRS] =
                        std::array::from_fn(|pair| [x(step + 2 * pair), x(step + 2 * pair + 1)]);
                    let dots = dot_products::<A, UNITS, PAIRS>(rows, xs);
                    for (dots, step) in dots.as_flattened().iter().zip(step..n_steps) {
                        for (dot, unit) in dots.iter().zip(unit..n_out) {
                            self.out[step * n_out + unit] += dot;
                        }
                    }
                }
            }
        }
    }
}

/// Placeholders of chunks.
const NO_CHUNK: Lanes = [0.0; N_LANES];
const NO_GROUP: [Lanes; GROUPED] = [NO_CHUNK; GROUPED];

/// `[pair][step][unit]`
#[inline(always)]
fn dot_products<A: Arithmetic, const UNITS: usize, const PAIRS: usize>(
    rows: [&[f32]; UNITS],
    xs: [[&[f32]; 2]; PAIRS],
) -> [[[f32; UNITS]; 2]; PAIRS] {
    let n_chunks = rows[0].len() / N_LANES;
    let row_chunks = rows.map(|row| &row.as_chunks::<N_LANES>().0[..n_chunks]);
    let x_chunks = xs.map(|xs| xs.map(|x| &x.as_chunks::<N_LANES>().0[..n_chunks]));
    let mut sums = [[A::Blocks::zero(); UNITS]; PAIRS];
    // Several chunks per bounds check.
    let n_groups = n_chunks / GROUPED;
    let row_groups = row_chunks.map(|row| &row.as_chunks::<GROUPED>().0[..n_groups]);
    let x_groups = x_chunks.map(|xs| xs.map(|x| &x.as_chunks::<GROUPED>().0[..n_groups]));
    for group in 0..n_groups {
        // Plain loops: closures passed to `map` are not always inlined.
        let (mut w, mut x) = ([&NO_GROUP; UNITS], [[&NO_GROUP; 2]; PAIRS]);
        for unit in 0..UNITS {
            w[unit] = &row_groups[unit][group];
        }
        for pair in 0..PAIRS {
            x[pair] = [&x_groups[pair][0][group], &x_groups[pair][1][group]];
        }
        for i in 0..GROUPED {
            let (mut w_chunks, mut x_chunks) = ([&NO_CHUNK; UNITS], [[&NO_CHUNK; 2]; PAIRS]);
            for unit in 0..UNITS {
                w_chunks[unit] = &w[unit][i];
            }
            for pair in 0..PAIRS {
                x_chunks[pair] = [&x[pair][0][i], &x[pair][1][i]];
            }
            add_chunk::<A::Blocks, UNITS, PAIRS>(&mut sums, w_chunks, x_chunks);
        }
    }
    for i in n_groups * GROUPED..n_chunks {
        let x = x_chunks.map(|xs| xs.map(|x| &x[i]));
        add_chunk::<A::Blocks, UNITS, PAIRS>(&mut sums, row_chunks.map(|row| &row[i]), x);
    }
    let n = n_chunks * N_LANES;
    let mut dots = [[[0.0; UNITS]; 2]; PAIRS];
    for pair in 0..PAIRS {
        for unit in 0..UNITS {
            for (step, dot) in A::Blocks::sums(sums[pair][unit]).into_iter().enumerate() {
                let rest = rows[unit][n..].iter().zip(&xs[pair][step][n..]);
                dots[pair][step][unit] = rest.fold(dot, |dot, (w, x)| A::mul_add_one(*w, *x, dot));
            }
        }
    }
    dots
}

/// Eight inputs of all units and steps.
#[inline(always)]
fn add_chunk<B: SimdBlock, const UNITS: usize, const PAIRS: usize>(
    sums: &mut [[B::V; UNITS]; PAIRS],
    w: [&Lanes; UNITS],
    x: [[&Lanes; 2]; PAIRS],
) {
    let mut both = [B::zero(); PAIRS];
    for (both, [one, other]) in both.iter_mut().zip(x) {
        *both = B::load_two(one, other);
    }
    for unit in 0..UNITS {
        let w = B::load_twice(w[unit]);
        for pair in 0..PAIRS {
            sums[pair][unit] = B::mul_add(w, both[pair], sums[pair][unit]);
        }
    }
}
