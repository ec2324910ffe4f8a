//! Products of layers that read CReS. Two of its four outputs are always 0; their weights are skipped. The outputs are
//! never stored: the sign of a pre-activation selects the weights.
//!
//! Weights are laid out as `[n_channels, 4, 128]`, the four parts in the order `relu(x), relu(-x), relu(x)^2,
//! relu(-x)^2`. The number of units, 128, is known at compile time, so that the accumulators of all units stay in
//! registers.

use crate::arithmetic::{
    Arithmetic, Block, Instructions, Kernel, Lanes, N_BLOCK, N_LANES, SimdBlock, SimdVector, load_from,
};
use crate::linear::weight_update::UpdateRule;
use crate::nonlinearity::Nonlinearity;
use std::ops::Range;

/// Outputs of CReS per unit.
pub(crate) const PARTS: usize = 4;
/// Blocks of 16 units: 128 units, the default width of convolutional modules.
const UNITS: usize = 8;
const N_UNITS: usize = UNITS * N_BLOCK;
/// Channels whose weights stay in the first-level cache while all rows read them.
const NEAR_CHANNELS: usize = N_LANES;
/// Rows of a gradient that are sorted by sign at once: one bit each of a word. Their `d` stays in the first-level
/// cache.
const ROWS: usize = u32::BITS as usize;

/// Starts at a cache line.
#[repr(align(64))]
struct Aligned<T>(T);

/// A value for each of the 128 units.
type Units = [Block; UNITS];
/// The weights of a channel.
type OfChannel = [Units; PARTS];
const N_WEIGHTS: usize = PARTS * N_UNITS;

/// Whether these kernels compute the products of a layer with `n_units` units that reads `nonlinearity`.
pub(crate) fn is_readable(nonlinearity: Option<Nonlinearity>, n_units: usize) -> bool {
    nonlinearity == Some(Nonlinearity::Cres) && n_units == N_UNITS
}

/// The column, among the outputs of CReS part by part, of row `idx` of the weights, which are laid out channel by
/// channel.
pub(crate) fn column_of(idx: usize, n_channels: usize) -> usize {
    idx % PARTS * n_channels + idx / PARTS
}

/// Rows of units.
fn units_of(numbers: &[f32]) -> &[Units] {
    numbers.as_chunks().0.as_chunks().0
}

/// 0 for a pre-activation above 0, 1 below. At 0 the weights do not matter.
#[inline(always)]
fn side_of(x: f32) -> usize {
    (x.to_bits() >> 31) as usize
}

/// Groups of channels: the index of the first, the weights, and the weights of the next group. The next weights are
/// prefetched while these are read, because the order in which rows read them depends on signs and no processor can
/// predict it.
fn near_channels(weights: &[OfChannel]) -> impl Iterator<Item = (usize, &[OfChannel], &[OfChannel])> {
    (0..weights.len()).step_by(NEAR_CHANNELS).map(|first| {
        let (near, far) = weights[first..].split_at(NEAR_CHANNELS.min(weights.len() - first));
        (first, near, &far[..NEAR_CHANNELS.min(far.len())])
    })
}

/// Splits weights into one share per row.
fn shares(weights: &[OfChannel], n_rows: usize) -> impl Iterator<Item = &[Block]> {
    let blocks = weights.as_flattened().as_flattened();
    blocks.chunks(blocks.len().div_ceil(n_rows.max(1)).max(1)).chain(std::iter::repeat(&[][..]))
}

/// Adds `W CReS(x)` of each row: `x` is `[n_rows, n_channels]`, `out` is `[n_rows, 128]`.
pub(crate) fn add_cres_products(
    instructions: Instructions,
    x: &[f32],
    n_channels: usize,
    weights: &[f32],
    out: &mut [f32],
) {
    let (weights, out) = (units_of(weights).as_chunks().0, out.as_chunks_mut().0.as_chunks_mut().0);
    instructions.run(Products { x, n_channels, weights, out });
}

struct Products<'a> {
    x: &'a [f32],
    n_channels: usize,
    weights: &'a [OfChannel],
    out: &'a mut [Units],
}

impl Kernel for Products<'_> {
    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let Self { x, n_channels, weights, out } = self;
        let n_rows = out.len();
        for (first, near, next) in near_channels(weights) {
            let rows = x.chunks_exact(n_channels).zip(&mut *out);
            for ((x, out), share) in rows.zip(shares(next, n_rows)) {
                A::prefetch(share.as_flattened());
                let x = &x[first..first + near.len()];
                // As many accumulators as there are registers for; the bits do not depend on it.
                match A::HAS_32_REGISTERS {
                    true => add_channels::<A::Blocks, 1, 8>(x, near, out),
                    false => add_channels::<A::Blocks, 2, 4>(x, near, out),
                }
            }
        }
    }
}

/// Adds some channels of one row, in `SHARES` passes over `N` blocks of units each.
#[inline(always)]
fn add_channels<B: SimdVector<Memory = Block>, const SHARES: usize, const N: usize>(
    x: &[f32],
    weights: &[OfChannel],
    out: &mut Units,
) {
    for share in 0..SHARES {
        let mut sums = [B::zero(); N];
        for unit in 0..N {
            sums[unit] = B::load(&out[share * N + unit]);
        }
        for (&x, weights) in x.iter().zip(weights) {
            let side = side_of(x);
            let (of_number, of_square) = (&weights[side], &weights[side + 2]);
            let number = B::splat(x.abs());
            let square = B::mul(number, number);
            for unit in 0..N {
                sums[unit] = B::mul_add(number, B::load(&of_number[share * N + unit]), sums[unit]);
            }
            for unit in 0..N {
                sums[unit] = B::mul_add(square, B::load(&of_square[share * N + unit]), sums[unit]);
            }
        }
        for unit in 0..N {
            B::store(sums[unit], &mut out[share * N + unit]);
        }
    }
}

/// Sets the gradient of the pre-activations, `dx` (`[n_rows, n_channels]`), from the gradient of the layer that reads
/// them, `d` (`[n_rows, 128]`). The derivative at 0 is 0.
pub(crate) fn set_cres_slopes(
    instructions: Instructions,
    x: &[f32],
    n_channels: usize,
    weights: &[f32],
    d: &[f32],
    dx: &mut [f32],
) {
    instructions.run(Slopes { x, n_channels, weights: units_of(weights).as_chunks().0, d: units_of(d), dx });
}

struct Slopes<'a> {
    x: &'a [f32],
    n_channels: usize,
    weights: &'a [OfChannel],
    d: &'a [Units],
    dx: &'a mut [f32],
}

impl Kernel for Slopes<'_> {
    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let Self { x, n_channels, weights, d, dx } = self;
        for (first, near, next) in near_channels(weights) {
            let rows = x.chunks_exact(n_channels).zip(dx.chunks_exact_mut(n_channels)).zip(d);
            for (((x, dx), d), share) in rows.zip(shares(next, d.len())) {
                A::prefetch(share.as_flattened());
                let slopes = slopes_of::<A>(&x[first..], near, d);
                match dx[first..].first_chunk_mut() {
                    Some(dx) => *dx = slopes,
                    None => dx[first..].iter_mut().zip(slopes).for_each(|(dx, slope)| *dx = slope),
                }
            }
        }
    }
}

/// The gradient of up to eight pre-activations of a row, with their weights.
#[inline(always)]
fn slopes_of<A: Arithmetic>(x: &[f32], weights: &[OfChannel], d: &Units) -> Lanes {
    let x = load_from::<A>(x, 0);
    let below = A::below_zero(x);
    let one_where_less = |a, b| A::select_if_less(a, b, A::splat(1.0));
    // Derivatives of the two parts that are not 0.
    let of_numbers = A::stored(A::sub(one_where_less(A::zero(), x), one_where_less(x, A::zero())));
    let of_squares = A::stored(A::add(x, x));
    let mut of_units = [A::Blocks::zero(); UNITS];
    for (unit, d) in of_units.iter_mut().zip(d) {
        *unit = A::Blocks::load(d);
    }
    let mut slopes = [A::Blocks::zero(); N_LANES];
    for (channel, (weights, slopes)) in weights.iter().zip(&mut slopes).enumerate() {
        let side = (below >> channel & 1) as usize;
        let (mut number, mut square) = (A::Blocks::zero(), A::Blocks::zero());
        for unit in 0..UNITS {
            number = A::Blocks::mul_add(of_units[unit], A::Blocks::load(&weights[side][unit]), number);
            square = A::Blocks::mul_add(of_units[unit], A::Blocks::load(&weights[side + 2][unit]), square);
        }
        let number = A::Blocks::mul(A::Blocks::splat(of_numbers[channel]), number);
        *slopes = A::Blocks::mul_add(A::Blocks::splat(of_squares[channel]), square, number);
    }
    A::Blocks::sums_of_eight(slopes)
}

/// Passes the gradient of the weights, which begin at parameter `start`, to the rule. `x` is `[n_rows, n_channels]`,
/// `d` is `[n_rows, 128]`.
pub(crate) fn give_cres_gradient(
    instructions: Instructions,
    x: &[f32],
    n_channels: usize,
    d: &[f32],
    start: usize,
    rule: &mut impl UpdateRule,
) {
    instructions.run(Gradient { x, n_channels, d: units_of(d), start, rule });
}

struct Gradient<'a, U> {
    x: &'a [f32],
    n_channels: usize,
    d: &'a [Units],
    start: usize,
    rule: &'a mut U,
}

impl<U: UpdateRule> Kernel for Gradient<'_, U> {
    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let Self { x, n_channels, d, start, rule } = self;
        let n_chunks = d.len().div_ceil(ROWS);
        let at = |channel: usize| start + channel * N_WEIGHTS;
        for first in (0..n_channels).step_by(N_BLOCK) {
            let n = N_BLOCK.min(n_channels - first);
            let Aligned(sums) = &mut Aligned([[[[0.0; N_BLOCK]; UNITS]; PARTS]; N_BLOCK]);
            for (chunk, (x, d)) in x.chunks(ROWS * n_channels).zip(d.chunks(ROWS)).enumerate() {
                let rows = SortedRows::new::<A>(x.chunks_exact(n_channels).map(|x| &x[first..first + n]));
                for (channel, sums) in sums[..n].iter_mut().enumerate() {
                    // The last channel expects itself.
                    let next = at((first + channel + 1).min(n_channels - 1));
                    // As many accumulators as there are registers for; the bits do not depend on it.
                    match A::HAS_32_REGISTERS {
                        true => rows.add::<A, 1, 8>(channel, d, sums, rule, next..next + N_WEIGHTS),
                        false => rows.add::<A, 4, 2>(channel, d, sums, rule, next..next + N_WEIGHTS),
                    }
                    if chunk + 1 == n_chunks {
                        rule.apply::<A>(at(first + channel), sums.as_flattened().as_flattened());
                    }
                }
            }
        }
    }
}

/// Up to 32 rows of up to 16 channels, sorted by the sign of their pre-activations.
struct SortedRows {
    /// Absolute values, `[row][channel]`.
    magnitudes: [Block; ROWS],
    /// Per channel one bit for each row whose pre-activation is above 0, and for each other row.
    sides: [[u32; N_BLOCK]; 2],
}

impl SortedRows {
    #[inline(always)]
    fn new<'x, A: Arithmetic>(rows: impl ExactSizeIterator<Item = &'x [f32]>) -> Self {
        let (mut magnitudes, mut below) = ([[0.0; N_BLOCK]; ROWS], [0; N_BLOCK]);
        let all = u32::MAX >> (ROWS - rows.len());
        for (row, (x, magnitudes)) in rows.zip(&mut magnitudes).enumerate() {
            match x.first_chunk() {
                Some(x) => *magnitudes = *x,
                None => magnitudes[..x.len()].copy_from_slice(x),
            }
            let x = A::Blocks::load(magnitudes);
            A::Blocks::store(A::Blocks::max(A::Blocks::sub(A::Blocks::zero(), x), x), magnitudes);
            let is_below = A::Blocks::below_zero(x);
            for (channel, below) in below.iter_mut().enumerate() {
                *below |= (is_below >> channel & 1) << row;
            }
        }
        Self { magnitudes, sides: [below.map(|below| all & !below), below] }
    }

    /// Adds `d` times the outputs of one channel, in `SHARES` passes over `N` blocks of units each. The rule expects
    /// the `next` parameters, a few per row: all at once they would hold up the loads of `d`.
    #[inline(always)]
    fn add<A: Arithmetic, const SHARES: usize, const N: usize>(
        &self,
        channel: usize,
        d: &[Units],
        sums: &mut OfChannel,
        rule: &impl UpdateRule,
        next: Range<usize>,
    ) {
        let n_expected = next.len().div_ceil(d.len() * SHARES).next_multiple_of(N_BLOCK);
        let mut expected = next.start;
        for (side, share) in (0..2).flat_map(|side| (0..SHARES).map(move |share| (side, share))) {
            let (mut numbers, mut squares) = ([A::Blocks::zero(); N], [A::Blocks::zero(); N]);
            for unit in 0..N {
                numbers[unit] = A::Blocks::load(&sums[side][share * N + unit]);
                squares[unit] = A::Blocks::load(&sums[side + 2][share * N + unit]);
            }
            let mut rows = self.sides[side][channel];
            while rows != 0 {
                let row = rows.trailing_zeros() as usize;
                rows &= rows - 1;
                if expected < next.end {
                    rule.expect::<A>(expected, n_expected);
                    expected += n_expected;
                }
                let number = A::Blocks::splat(self.magnitudes[row % ROWS][channel]);
                let square = A::Blocks::mul(number, number);
                for unit in 0..N {
                    let d = A::Blocks::load(&d[row][share * N + unit]);
                    numbers[unit] = A::Blocks::mul_add(number, d, numbers[unit]);
                    squares[unit] = A::Blocks::mul_add(square, d, squares[unit]);
                }
            }
            for unit in 0..N {
                A::Blocks::store(numbers[unit], &mut sums[side][share * N + unit]);
                A::Blocks::store(squares[unit], &mut sums[side + 2][share * N + unit]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::weight_update::Accumulate;

    /// The four outputs for a pre-activation, and their derivatives.
    fn parts(x: f64) -> [(f64, f64); PARTS] {
        let (up, down) = (x.max(0.0), (-x).max(0.0));
        let (is_up, is_down) = (f64::from(u8::from(x > 0.0)), f64::from(u8::from(x < 0.0)));
        [(up, is_up), (down, -is_down), (up * up, 2.0 * up), (down * down, -2.0 * down)]
    }

    /// Shapes below, at and above every block, on all instructions, with sums that are 0: three loops in f64.
    #[test]
    fn products_are_those_of_four_numbers() {
        let mut state = 1_u64;
        let mut noise = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f32 / (1_u64 << 23) as f32 - 1.0
        };
        let n_units = N_UNITS;
        for (n_rows, n_channels) in [(1, 1), (5, 8), (3, 9), (16, 33), (64, 5), (65, 17), (196, 17), (300, 5)]
        {
            let mut x: Vec<f32> = (0..n_rows * n_channels).map(|_| noise()).collect();
            x.iter_mut().step_by(7).for_each(|x| *x = 0.0);
            x.iter_mut().skip(3).step_by(11).for_each(|x| *x = -0.0);
            let weights: Vec<f32> = (0..n_channels * PARTS * n_units).map(|_| noise()).collect();
            let d: Vec<f32> = (0..n_rows * n_units).map(|_| noise()).collect();
            let before: Vec<f32> = (0..n_rows * n_units).map(|_| noise()).collect();
            let name = format!("{n_rows} rows, {n_channels} channels");
            let weight = |channel: usize, part: usize, unit: usize| {
                f64::from(weights[(channel * PARTS + part) * n_units + unit])
            };
            let part = |row: usize, channel: usize| parts(f64::from(x[row * n_channels + channel]));
            let d_of = |row: usize, unit: usize| f64::from(d[row * n_units + unit]);
            for instructions in Instructions::all() {
                let near = |found: f32, wanted: f64| {
                    assert!(
                        (f64::from(found) - wanted).abs() < 1e-4,
                        "{name} on {}: {found} for {wanted}",
                        instructions.name()
                    );
                };
                let mut out = before.clone();
                add_cres_products(instructions, &x, n_channels, &weights, &mut out);
                for (row, unit) in (0..n_rows).flat_map(|row| (0..n_units).map(move |unit| (row, unit))) {
                    let sums = (0..n_channels).flat_map(|channel| {
                        let numbers = part(row, channel).into_iter().enumerate();
                        numbers.map(move |(part, (number, _))| number * weight(channel, part, unit))
                    });
                    let at = row * n_units + unit;
                    near(out[at], f64::from(before[at]) + sums.sum::<f64>());
                }
                let mut dx = vec![7.0; x.len()];
                set_cres_slopes(instructions, &x, n_channels, &weights, &d, &mut dx);
                let mut gradient = vec![0.25; 3 + weights.len()];
                give_cres_gradient(instructions, &x, n_channels, &d, 3, &mut Accumulate(&mut gradient));
                assert_eq!(gradient[..3], [0.25; 3], "{name}");
                for channel in 0..n_channels {
                    for row in 0..n_rows {
                        let slopes = part(row, channel).into_iter().enumerate().map(|(part, (_, slope))| {
                            let units =
                                (0..n_units).map(|unit| d_of(row, unit) * weight(channel, part, unit));
                            slope * units.sum::<f64>()
                        });
                        near(dx[row * n_channels + channel], slopes.sum());
                    }
                    for (number, unit) in (0..PARTS).flat_map(|part| (0..n_units).map(move |u| (part, u))) {
                        let sum = (0..n_rows).map(|row| part(row, channel)[number].0 * d_of(row, unit));
                        let found = gradient[3 + (channel * PARTS + number) * n_units + unit];
                        near(found, 0.25 + sum.sum::<f64>());
                    }
                }
            }
        }
    }

    /// Wide registers or not, the same bits.
    #[test]
    fn registers_do_not_change_bits() {
        let fused: Vec<_> = Instructions::all().filter(|one| one.rounding() == "fused").collect();
        let numbers = |n: usize, by: f32| (0..n).map(|i| (i as f32 * by).sin()).collect::<Vec<f32>>();
        for (n_rows, n_channels) in [(20, 37), (70, 17), (300, 5)] {
            let (x, d) = (numbers(n_rows * n_channels, 0.7), numbers(n_rows * N_UNITS, 0.3));
            let weights = numbers(n_channels * PARTS * N_UNITS, 0.9);
            let all = |instructions: Instructions| {
                let (mut out, mut dx, mut gradient) = (d.clone(), x.clone(), weights.clone());
                add_cres_products(instructions, &x, n_channels, &weights, &mut out);
                set_cres_slopes(instructions, &x, n_channels, &weights, &d, &mut dx);
                give_cres_gradient(instructions, &x, n_channels, &d, 0, &mut Accumulate(&mut gradient));
                [out, dx, gradient].concat().into_iter().map(f32::to_bits).collect::<Vec<_>>()
            };
            for pair in fused.windows(2) {
                assert_eq!(all(pair[0]), all(pair[1]), "{n_rows} rows");
            }
        }
    }

    /// NaN pre-activations give NaN.
    #[test]
    fn nan_stays_nan() {
        for (n_rows, instructions) in Instructions::all().flat_map(|one| [(3, one), (70, one)]) {
            let (mut x, weights) = (vec![0.5; n_rows * 2], vec![0.1; 2 * PARTS * N_UNITS]);
            let d = vec![1.0; n_rows * N_UNITS];
            x[0] = f32::NAN;
            let (mut out, mut dx) = (vec![0.0; n_rows * N_UNITS], vec![0.0; x.len()]);
            add_cres_products(instructions, &x, 2, &weights, &mut out);
            assert!(out[..N_UNITS].iter().all(|out| out.is_nan()) && !out[N_UNITS].is_nan());
            set_cres_slopes(instructions, &x, 2, &weights, &d, &mut dx);
            assert!(dx[0].is_nan() && !dx[1].is_nan());
        }
    }
}
