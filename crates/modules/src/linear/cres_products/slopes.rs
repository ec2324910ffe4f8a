//! The gradient of pre-activations before CReS.

use super::{
    Aligned, ChannelWeights, FAR_CHANNELS, NEAR_CHANNELS, NearWeights, PARTS, Pass, ROWS, copy_rows,
    expect_channels, pass_over, ranges, rows_of_chunk,
};
use crate::arithmetic::{
    Arithmetic, Block, Instructions, Kernel, Lanes, N_BLOCK, N_LANES, SimdBlock, SimdVector, load_from,
};
use std::ops::Range;

/// Sets the gradient of the pre-activations, `dx` (`[n_rows, n_channels]`), from the gradient of the layer that reads
/// them, `d` (`[n_rows, n_units]`). The derivative at 0 is 0.
pub(crate) fn set_cres_slopes(
    instructions: Instructions,
    x: &[f32],
    n_channels: usize,
    weights: &[f32],
    d: &[f32],
    dx: &mut [f32],
) {
    let n_units = weights.len() / (PARTS * n_channels);
    instructions.run(Slopes { x, weights: ChannelWeights { numbers: weights, n_units }, d, dx });
}

struct Slopes<'a> {
    x: &'a [f32],
    weights: ChannelWeights<'a>,
    d: &'a [f32],
    dx: &'a mut [f32],
}

impl Kernel for Slopes<'_> {
    #[inline(always)]
    fn run<A: Arithmetic>(mut self) {
        pass_over::<A>(self.weights.n_units, &mut self);
    }
}

impl<A: Arithmetic> Pass<A> for Slopes<'_> {
    #[inline(always)]
    fn run<const N: usize>(&mut self, units: Range<usize>) {
        let Self { x, weights, d, ref mut dx } = *self;
        let (n_channels, n_units) = (weights.n_channels(), weights.n_units);
        let n_in_chunk = rows_of_chunk::<N>(d.len() / n_units, n_units);
        let copied_rows = &mut Aligned([[[0.0; N_BLOCK]; N]; ROWS]);
        let copied_weights = &mut Aligned([[[[0.0; N_BLOCK]; N]; PARTS]; NEAR_CHANNELS]);
        for far in ranges(0..n_channels, FAR_CHANNELS) {
            let rows = x.chunks(n_in_chunk * n_channels).zip(dx.chunks_mut(n_in_chunk * n_channels));
            for ((x, dx), d) in rows.zip(d.chunks(n_in_chunk * n_units)) {
                let d = match n_units == N * N_BLOCK {
                    true => d.as_chunks().0.as_chunks().0,
                    false => copy_rows(d, n_units, units.clone(), copied_rows),
                };
                for near in ranges(far.clone(), NEAR_CHANNELS) {
                    let next = weights.channels(near.end..near.end + NEAR_CHANNELS);
                    let weights = weights.near(near.clone(), units.clone(), copied_weights);
                    let mut shares =
                        next.chunks(next.len().div_ceil(d.len()).next_multiple_of(N_BLOCK).max(1));
                    let rows = x.chunks_exact(n_channels).zip(dx.chunks_exact_mut(n_channels));
                    for ((x, dx), d) in rows.zip(d) {
                        A::prefetch(shares.next().unwrap_or_default());
                        expect_channels::<A>(x, near.start);
                        expect_channels::<A>(dx, near.start);
                        let slopes = slopes_of::<A, N>(&x[near.clone()], weights, d);
                        let dx = &mut dx[near.clone()];
                        match dx.first_chunk_mut() {
                            Some(dx) if units.start == 0 => *dx = slopes,
                            _ if units.start == 0 => dx.copy_from_slice(&slopes[..dx.len()]),
                            _ => dx.iter_mut().zip(slopes).for_each(|(dx, slope)| *dx += slope),
                        }
                    }
                }
            }
        }
    }
}

/// The part of some units in the gradient of up to eight pre-activations of a row.
#[inline(always)]
fn slopes_of<A: Arithmetic, const N: usize>(x: &[f32], weights: &NearWeights<N>, d: &[Block; N]) -> Lanes {
    let x = load_from::<A>(x, 0);
    let below = A::below_zero(x);
    let one_where_less = |a, b| A::select_if_less(a, b, A::splat(1.0));
    // Derivatives of the two parts that are not 0.
    let of_numbers = A::stored(A::sub(one_where_less(A::zero(), x), one_where_less(x, A::zero())));
    let of_squares = A::stored(A::add(x, x));
    // Sums of several channels at once, because those of one wait for each other, if there are registers for them.
    let sums = match A::HAS_32_REGISTERS {
        true => sums_of::<A, N, NEAR_CHANNELS>(weights, below, d),
        false => sums_of::<A, N, 1>(weights, below, d),
    };
    let mut slopes = [A::Blocks::zero(); N_LANES];
    for channel in 0..NEAR_CHANNELS {
        let [number, square] = sums[channel];
        let number = A::Blocks::mul(A::Blocks::splat(of_numbers[channel]), number);
        slopes[channel] = A::Blocks::mul_add(A::Blocks::splat(of_squares[channel]), square, number);
    }
    A::Blocks::sums_of_eight(slopes)
}

/// For each channel the sums of `d` times its weights: of the number and of the square that are not 0.
#[inline(always)]
fn sums_of<A: Arithmetic, const N: usize, const AT_ONCE: usize>(
    weights: &NearWeights<N>,
    below: u32,
    d: &[Block; N],
) -> [[<A::Blocks as SimdVector>::V; 2]; NEAR_CHANNELS] {
    let mut all = [[A::Blocks::zero(); 2]; NEAR_CHANNELS];
    for first in (0..NEAR_CHANNELS).step_by(AT_ONCE) {
        let mut sums = [[A::Blocks::zero(); 2]; AT_ONCE];
        for unit in 0..N {
            let d = A::Blocks::load(&d[unit]);
            for (idx, [number, square]) in sums.iter_mut().enumerate() {
                let channel = first + idx;
                let (weights, side) = (&weights[channel], (below >> channel & 1) as usize);
                *number = A::Blocks::mul_add(d, A::Blocks::load(&weights[side][unit]), *number);
                *square = A::Blocks::mul_add(d, A::Blocks::load(&weights[side + 2][unit]), *square);
            }
        }
        all[first..first + AT_ONCE].copy_from_slice(&sums);
    }
    all
}
