//! `W CReS(x)`.

use super::{
    Aligned, ChannelWeights, FAR_CHANNELS, NEAR_CHANNELS, NearWeights, PARTS, Pass, ROWS, copy_rows,
    expect_channels, pass_over, ranges, rows_of_chunk,
};
use crate::arithmetic::{Arithmetic, Block, Instructions, Kernel, N_BLOCK, SimdVector, load_from};
use std::ops::Range;

/// Adds `W CReS(x)` of each row: `x` is `[n_rows, n_channels]`, `out` is `[n_rows, n_units]`.
pub(crate) fn add_cres_products(
    instructions: Instructions,
    x: &[f32],
    n_channels: usize,
    weights: &[f32],
    out: &mut [f32],
) {
    let n_units = weights.len() / (PARTS * n_channels);
    instructions.run(Products { x, weights: ChannelWeights { numbers: weights, n_units }, out });
}

struct Products<'a> {
    x: &'a [f32],
    weights: ChannelWeights<'a>,
    out: &'a mut [f32],
}

impl Kernel for Products<'_> {
    #[inline(always)]
    fn run<A: Arithmetic>(mut self) {
        pass_over::<A>(self.weights.n_units, &mut self);
    }
}

impl<A: Arithmetic> Pass<A> for Products<'_> {
    #[inline(always)]
    fn run<const N: usize>(&mut self, units: Range<usize>) {
        let Self { x, weights, ref mut out } = *self;
        let (n_channels, n_units) = (weights.n_channels(), weights.n_units);
        let n_in_chunk = rows_of_chunk::<N>(out.len() / n_units, n_units);
        let copied_rows = &mut Aligned([[[0.0; N_BLOCK]; N]; ROWS]);
        let copied_weights = &mut Aligned([[[[0.0; N_BLOCK]; N]; PARTS]; NEAR_CHANNELS]);
        for far in ranges(0..n_channels, FAR_CHANNELS) {
            let chunks = x.chunks(n_in_chunk * n_channels).zip(out.chunks_mut(n_in_chunk * n_units));
            for (x, out) in chunks {
                let is_copied = n_units != N * N_BLOCK;
                let sums = match is_copied {
                    true => copy_rows(out, n_units, units.clone(), copied_rows),
                    false => out.as_chunks_mut().0.as_chunks_mut().0,
                };
                for near in ranges(far.clone(), NEAR_CHANNELS) {
                    let next = weights.channels(near.end..near.end + NEAR_CHANNELS);
                    let weights = weights.near(near.clone(), units.clone(), copied_weights);
                    add_channels::<A, N>(x, n_channels, near, weights, next, sums);
                }
                if is_copied {
                    for (out, sums) in out.chunks_exact_mut(n_units).zip(&copied_rows.0) {
                        out[units.clone()].copy_from_slice(&sums.as_flattened()[..units.len()]);
                    }
                }
            }
        }
    }
}

/// Adds a few channels of all rows. The `next` weights are prefetched meanwhile, because the order in which rows read
/// weights depends on signs and no processor can predict it.
#[inline(always)]
fn add_channels<A: Arithmetic, const N: usize>(
    x: &[f32],
    n_channels: usize,
    near: Range<usize>,
    weights: &NearWeights<N>,
    next: &[f32],
    sums: &mut [[Block; N]],
) {
    // A share per two rows.
    let share = next.len().div_ceil(sums.len().div_ceil(2)).next_multiple_of(N_BLOCK).max(1);
    let mut shares = next.chunks(share);
    let (pairs, last) = sums.as_chunks_mut::<2>();
    for (x, pair) in x.chunks(2 * n_channels).zip(pairs) {
        A::prefetch(shares.next().unwrap_or_default());
        let (one, other) = x.split_at(n_channels);
        expect_channels::<A>(one, near.start);
        expect_channels::<A>(other, near.start);
        let numbers = [Numbers::new::<A>(&one[near.clone()]), Numbers::new::<A>(&other[near.clone()])];
        // As many accumulators as there are registers for; the bits do not depend on it.
        match A::HAS_32_REGISTERS {
            true => add_rows::<A, 2, N, N>(&numbers, weights, pair),
            false => add_rows::<A, 2, N, 2>(&numbers, weights, pair),
        }
    }
    if let [row] = last {
        A::prefetch(shares.next().unwrap_or_default());
        let numbers = Numbers::new::<A>(&x[x.len() - n_channels..][near.clone()]);
        add_rows::<A, 1, N, 2>(&[numbers], weights, std::array::from_mut(row));
    }
}

/// A row's outputs of CReS that are not 0.
struct Numbers {
    numbers: [f32; NEAR_CHANNELS],
    squares: [f32; NEAR_CHANNELS],
    /// One bit per channel: below 0. At 0 the weights do not matter.
    below: u32,
}

impl Numbers {
    #[inline(always)]
    fn new<A: Arithmetic>(x: &[f32]) -> Self {
        let x = load_from::<A>(x, 0);
        let number = A::max(A::sub(A::zero(), x), x);
        Self {
            numbers: A::stored(number),
            squares: A::stored(A::mul(number, number)),
            below: A::below_zero(x),
        }
    }
}

/// Adds a few channels of `R` rows, `AT_ONCE` blocks of units at a time.
#[inline(always)]
fn add_rows<A: Arithmetic, const R: usize, const N: usize, const AT_ONCE: usize>(
    numbers: &[Numbers; R],
    weights: &NearWeights<N>,
    out: &mut [[Block; N]; R],
) {
    for share in (0..N).step_by(AT_ONCE) {
        let mut sums = [[A::Blocks::zero(); AT_ONCE]; R];
        for row in 0..R {
            for unit in 0..AT_ONCE {
                sums[row][unit] = A::Blocks::load(&out[row][share + unit]);
            }
        }
        for (channel, weights) in weights.iter().enumerate() {
            for row in 0..R {
                let side = (numbers[row].below >> channel & 1) as usize;
                let (of_number, of_square) = (&weights[side], &weights[side + 2]);
                let number = A::Blocks::splat(numbers[row].numbers[channel]);
                let square = A::Blocks::splat(numbers[row].squares[channel]);
                for unit in 0..AT_ONCE {
                    let weights = A::Blocks::load(&of_number[share + unit]);
                    sums[row][unit] = A::Blocks::mul_add(number, weights, sums[row][unit]);
                }
                for unit in 0..AT_ONCE {
                    let weights = A::Blocks::load(&of_square[share + unit]);
                    sums[row][unit] = A::Blocks::mul_add(square, weights, sums[row][unit]);
                }
            }
        }
        for row in 0..R {
            for unit in 0..AT_ONCE {
                A::Blocks::store(sums[row][unit], &mut out[row][share + unit]);
            }
        }
    }
}
