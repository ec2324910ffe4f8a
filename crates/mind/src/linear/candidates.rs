//! `W h + b` for many candidate touches at once: wide registers along the candidates.
//!
//! Candidates are worked on in blocks of 16, so that a block of a small module goes through all layers without leaving
//! the first cache, and a block of a large one keeps its inputs there while the weights stream by.

use crate::arithmetic::{Arithmetic, Lanes, N_LANES};
use crate::nonlinearity::{Nonlinearity, parts};

/// Registers of eight candidates in a block: with six units at a time, 12 sums, 2 inputs and a weight fit into 16
/// registers, and 12 sums are enough to hide how long each takes.
pub(crate) const MAX_CHUNKS: usize = 2;
/// Inputs after which sums are put down: so many of a block stay in the first cache.
const INPUTS: usize = 256;

/// One number for each candidate of a block of `8 N`.
pub(crate) type Block<const N: usize> = [Lanes; N];

/// `out[unit] = b[unit] + sum_i W[unit, i] x[i]`, for a block; `out` is `[n_out]`, `x` is `[n_in]`.
#[inline(always)]
pub(crate) fn block_products<A: Arithmetic, const N: usize>(
    weights: &[f32],
    biases: &[f32],
    x: &[Block<N>],
    out: &mut [Block<N>],
) {
    let n_in = x.len();
    for (out, &bias) in out.iter_mut().zip(biases) {
        *out = [[bias; N_LANES]; N];
    }
    for (part, x) in x.chunks(INPUTS).enumerate() {
        let row_of = |unit: usize| &weights[unit * n_in + part * INPUTS..][..x.len()];
        let out = &mut out[..biases.len()];
        let unit = add_groups::<A, N, 6>(0, out, row_of, x);
        let unit = add_groups::<A, N, 4>(unit, out, row_of, x);
        let unit = add_groups::<A, N, 2>(unit, out, row_of, x);
        add_groups::<A, N, 1>(unit, out, row_of, x);
    }
}

/// From unit `first` on, as many groups as there are; gives the first unit that is left.
#[inline(always)]
fn add_groups<'a, A: Arithmetic, const N: usize, const UNITS: usize>(
    first: usize,
    out: &mut [Block<N>],
    row_of: impl Fn(usize) -> &'a [f32],
    x: &[Block<N>],
) -> usize {
    let (groups, rest) = out[first..].as_chunks_mut::<UNITS>();
    for (idx, group) in groups.iter_mut().enumerate() {
        add_rows::<A, N, UNITS>(std::array::from_fn(|i| row_of(first + UNITS * idx + i)), x, group);
    }
    let n_rest = rest.len();
    out.len() - n_rest
}

#[inline(always)]
fn add_rows<A: Arithmetic, const N: usize, const UNITS: usize>(
    rows: [&[f32]; UNITS],
    x: &[Block<N>],
    out: &mut [Block<N>; UNITS],
) {
    let rows = rows.map(|row| &row[..x.len()]);
    let mut sums: [[A::V; N]; UNITS] =
        std::array::from_fn(|unit| std::array::from_fn(|chunk| A::load(&out[unit][chunk])));
    for (i, x) in x.iter().enumerate() {
        let x: [A::V; N] = std::array::from_fn(|chunk| A::load(&x[chunk]));
        for unit in 0..UNITS {
            let w = A::splat(rows[unit][i]);
            for chunk in 0..N {
                sums[unit][chunk] = A::mul_add(w, x[chunk], sums[unit][chunk]);
            }
        }
    }
    for unit in 0..UNITS {
        for chunk in 0..N {
            A::store(sums[unit][chunk], &mut out[unit][chunk]);
        }
    }
}

/// `x` is `[n]`, `out` is `[n_parts * n]`.
#[inline(always)]
pub(crate) fn block_nonlinearity<A: Arithmetic, const N: usize>(
    nonlinearity: Nonlinearity,
    x: &[Block<N>],
    out: &mut [Block<N>],
) {
    // Decided once, not for each unit.
    match nonlinearity {
        Nonlinearity::Relu => each_unit::<A, N, 1>(Nonlinearity::Relu, x, out),
        Nonlinearity::Tanh => each_unit::<A, N, 1>(Nonlinearity::Tanh, x, out),
        Nonlinearity::Sigmoid => each_unit::<A, N, 1>(Nonlinearity::Sigmoid, x, out),
        Nonlinearity::Elu => each_unit::<A, N, 1>(Nonlinearity::Elu, x, out),
        Nonlinearity::Crelu => each_unit::<A, N, 2>(Nonlinearity::Crelu, x, out),
        Nonlinearity::Cres => each_unit::<A, N, 4>(Nonlinearity::Cres, x, out),
        Nonlinearity::ReluSq => each_unit::<A, N, 2>(Nonlinearity::ReluSq, x, out),
        Nonlinearity::Sq => each_unit::<A, N, 2>(Nonlinearity::Sq, x, out),
    }
}

#[inline(always)]
fn each_unit<A: Arithmetic, const N: usize, const PARTS: usize>(
    nonlinearity: Nonlinearity,
    x: &[Block<N>],
    out: &mut [Block<N>],
) {
    let n = x.len();
    let out = &mut out[..PARTS * n];
    for (unit, x) in x.iter().enumerate() {
        for (chunk, x) in x.iter().enumerate() {
            let parts = parts::<A>(nonlinearity, A::load(x));
            for part in 0..PARTS {
                A::store(parts[part], &mut out[part * n + unit][chunk]);
            }
        }
    }
}
