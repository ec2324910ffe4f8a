//! `W h + b` for many candidate touches at once: wide registers along the candidates.
//!
//! Candidates are worked on in blocks of 24, so that a block of a small module goes through all layers without leaving
//! the first cache, and a block of a large one keeps its inputs there while the weights stream by.

use crate::instructions::Arithmetic;
use crate::lanes::{Lanes, N_LANES, mul_add};
use crate::nonlinearity::{Nonlinearity, parts};

/// Registers of eight candidates in a block: with four units at a time, 12 sums and 3 inputs fill the 16 registers.
pub(crate) const MAX_CHUNKS: usize = 3;
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
        let (fours, rest) = out[..biases.len()].as_chunks_mut::<4>();
        let n_fours = fours.len();
        for (idx, four) in fours.iter_mut().enumerate() {
            add_rows::<A, N, 4>(std::array::from_fn(|i| row_of(4 * idx + i)), x, four);
        }
        let (twos, ones) = rest.as_chunks_mut::<2>();
        let n_twos = twos.len();
        for (idx, two) in twos.iter_mut().enumerate() {
            add_rows::<A, N, 2>(std::array::from_fn(|i| row_of(4 * n_fours + 2 * idx + i)), x, two);
        }
        for (idx, one) in ones.iter_mut().enumerate() {
            let row = row_of(4 * n_fours + 2 * n_twos + idx);
            add_rows::<A, N, 1>([row], x, std::array::from_mut(one));
        }
    }
}

#[inline(always)]
fn add_rows<A: Arithmetic, const N: usize, const UNITS: usize>(
    rows: [&[f32]; UNITS],
    x: &[Block<N>],
    out: &mut [Block<N>; UNITS],
) {
    let rows = rows.map(|row| &row[..x.len()]);
    let mut sums = *out;
    for (i, x) in x.iter().enumerate() {
        for (sums, row) in sums.iter_mut().zip(&rows) {
            for (sum, x) in sums.iter_mut().zip(x) {
                *sum = mul_add::<A>(row[i], x, sum);
            }
        }
    }
    *out = sums;
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
            let parts = parts::<A>(nonlinearity, x);
            for part in 0..PARTS {
                out[part * n + unit][chunk] = parts[part];
            }
        }
    }
}
