//! Products of layers that read CReS: of the four numbers that it makes of a sum two are 0, whatever the sum is. They are left
//! out, and none of the four is put down: a sum says which weights count, and what.
//!
//! Weights stand `[n_channels, 4, 128]`: those of a channel's four numbers together, `relu(x), relu(-x), relu(x)^2, relu(-x)^2`.
//! That there are 128 units is known when loops are compiled, so that sums of all of them stay in registers.

use crate::arithmetic::{
    Arithmetic, Block, Instructions, Kernel, Lanes, N_BLOCK, N_LANES, Numbers, SideBySide,
};
use crate::linear::weight_update::UpdateRule;
use crate::nonlinearity::{Nonlinearity, parts};

/// Numbers that CReS makes of a sum.
pub(crate) const PARTS: usize = 4;
/// Blocks of units: 128 units, as layers have for fine touches.
const UNITS: usize = 8;
const N_UNITS: usize = UNITS * N_BLOCK;
/// Channels whose weights stay in a cache while all rows read them.
const NEAR_CHANNELS: usize = N_LANES;
/// Rows that are told apart at once; their numbers fit into a byte.
const ROWS: usize = 256;
/// Up to so many rows, zeros are summed, too.
const FEW_ROWS: usize = 64;

/// From the beginning of a line of the caches on.
#[repr(align(64))]
struct Aligned<T>(T);

/// One number of each unit.
type Units = [Block; UNITS];
/// The weights of a channel.
type OfChannel = [Units; PARTS];

/// Whether what reads a nonlinearity with so many units can be multiplied here.
pub(crate) fn is_readable(nonlinearity: Option<Nonlinearity>, n_units: usize) -> bool {
    nonlinearity == Some(Nonlinearity::Cres) && n_units == N_UNITS
}

/// Where a number stands behind CReS, all channels of a part together, if it is the `idx`-th as weights stand here.
pub(crate) fn column_of(idx: usize, n_channels: usize) -> usize {
    idx % PARTS * n_channels + idx / PARTS
}

/// Rows of units.
fn units_of(numbers: &[f32]) -> &[Units] {
    numbers.as_chunks().0.as_chunks().0
}

/// Which side of 0 a sum is on: 0 above, 1 below. At 0 it does not matter.
#[inline(always)]
fn side_of(x: f32) -> usize {
    (x.to_bits() >> 31) as usize
}

/// The weights of some channels, and those of the next ones: they come from far away while the first are read, as nobody can
/// foresee which of them rows read first.
fn near_channels(weights: &[OfChannel]) -> impl Iterator<Item = (usize, &[OfChannel], &[OfChannel])> {
    (0..weights.len()).step_by(NEAR_CHANNELS).map(|first| {
        let (near, far) = weights[first..].split_at(NEAR_CHANNELS.min(weights.len() - first));
        (first, near, &far[..NEAR_CHANNELS.min(far.len())])
    })
}

/// Weights to fetch, in shares, one for each of some rows.
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
                // As many sums side by side as there are registers for; they are the same.
                match A::HAS_32_REGISTERS {
                    true => add_channels::<A::Blocks, 1, 8>(x, near, out),
                    false => add_channels::<A::Blocks, 2, 4>(x, near, out),
                }
            }
        }
    }
}

/// Some channels of one row, a share of the units at a time.
#[inline(always)]
fn add_channels<B: Numbers<Memory = Block>, const SHARES: usize, const N: usize>(
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

/// Sets the slopes of the sums, `dx` (`[n_rows, n_channels]`), from those of what reads them, `d` (`[n_rows, 128]`); at 0 the
/// slope is 0.
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
                let channels = first..first + near.len();
                let slopes = slopes_of::<A::Blocks>(&x[channels.clone()], near, d);
                match dx[channels.clone()].first_chunk_mut() {
                    Some(dx) => *dx = slopes,
                    None => dx[channels].iter_mut().zip(slopes).for_each(|(dx, slope)| *dx = slope),
                }
            }
        }
    }
}

/// Slopes of up to eight channels of a row.
#[inline(always)]
fn slopes_of<B: SideBySide>(x: &[f32], weights: &[OfChannel], d: &Units) -> Lanes {
    let mut of_units = [B::zero(); UNITS];
    for (unit, d) in of_units.iter_mut().zip(d) {
        *unit = B::load(d);
    }
    let mut slopes = [B::zero(); N_LANES];
    for ((&x, weights), slopes) in x.iter().zip(weights).zip(&mut slopes) {
        let side = side_of(x);
        let (of_number, of_square) = (&weights[side], &weights[side + 2]);
        let (mut number, mut square) = (B::zero(), B::zero());
        for unit in 0..UNITS {
            number = B::mul_add(of_units[unit], B::load(&of_number[unit]), number);
            square = B::mul_add(of_units[unit], B::load(&of_square[unit]), square);
        }
        let direction = f32::from(u8::from(x > 0.0)) - f32::from(u8::from(x < 0.0));
        *slopes = B::mul_add(B::splat(x + x), square, B::mul(B::splat(direction), number));
    }
    B::sums_of_eight(slopes)
}

/// Gives the gradient of weights that stand from `start` on to the rule. `x` is `[n_rows, n_channels]`, `d` is `[n_rows, 128]`.
pub(crate) fn give_cres_gradient(
    instructions: Instructions,
    x: &[f32],
    n_channels: usize,
    d: &[f32],
    start: usize,
    rule: &mut impl UpdateRule,
) {
    let gradient = Gradient { x, n_channels, d: units_of(d), start, rule };
    match gradient.d.len() <= FEW_ROWS {
        true => instructions.run(OfFewRows(gradient)),
        false => instructions.run(OfManyRows(gradient)),
    }
}

struct Gradient<'a, U> {
    x: &'a [f32],
    n_channels: usize,
    d: &'a [Units],
    start: usize,
    rule: &'a mut U,
}

impl<U: UpdateRule> Gradient<'_, U> {
    /// Gives what was summed up for one of a channel's numbers.
    #[inline(always)]
    fn give<A: Arithmetic>(&mut self, channel: usize, part: usize, gradient: &Units) {
        self.rule.apply::<A>(self.start + (channel * PARTS + part) * N_UNITS, gradient.as_flattened());
    }
}

/// Few rows and, mostly, many channels whose weights are far away: they come in time only if they are asked for one after the
/// other as they stand, and if no branch is guessed wrong on the way. So zeros are summed, too.
struct OfFewRows<'a, U>(Gradient<'a, U>);

impl<U: UpdateRule> Kernel for OfFewRows<'_, U> {
    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let Self(mut gradient) = self;
        let Gradient { x, n_channels, d, .. } = gradient;
        // Of sixteen channels: `[row][part][channel]`.
        let Aligned(numbers) = &mut Aligned([[[0.0; N_BLOCK]; PARTS]; FEW_ROWS]);
        for first in (0..n_channels).step_by(N_BLOCK) {
            let n = N_BLOCK.min(n_channels - first);
            for (numbers, x) in numbers.iter_mut().zip(x.chunks_exact(n_channels)) {
                let sixteen = match x[first..].first_chunk() {
                    Some(sixteen) => A::Blocks::load(sixteen),
                    None => A::Blocks::load(&padded_block(&x[first..])),
                };
                let parts = parts::<A::Blocks>(Nonlinearity::Cres, sixteen);
                numbers.iter_mut().zip(parts).for_each(|(numbers, part)| A::Blocks::store(part, numbers));
            }
            for (channel, part) in (0..n).flat_map(|channel| (0..PARTS).map(move |part| (channel, part))) {
                let mut sums = [A::Blocks::zero(); UNITS];
                for (numbers, d) in numbers.iter().zip(d) {
                    let number = A::Blocks::splat(numbers[part][channel]);
                    for (sum, d) in sums.iter_mut().zip(d) {
                        *sum = A::Blocks::mul_add(number, A::Blocks::load(d), *sum);
                    }
                }
                let mut summed = Aligned([[0.0; N_BLOCK]; UNITS]);
                summed.0.iter_mut().zip(sums).for_each(|(summed, sum)| A::Blocks::store(sum, summed));
                gradient.give::<A>(first + channel, part, &summed.0);
            }
        }
    }
}

/// Less than sixteen numbers, the rest 0.
fn padded_block(numbers: &[f32]) -> Block {
    let mut block = [0.0; N_BLOCK];
    block[..numbers.len()].copy_from_slice(numbers);
    block
}

/// Many rows and few channels: those above 0 are summed apart from those below.
struct OfManyRows<'a, U>(Gradient<'a, U>);

impl<U: UpdateRule> Kernel for OfManyRows<'_, U> {
    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let Self(mut gradient) = self;
        let Gradient { x, n_channels, d, .. } = gradient;
        let mut sides = Sides { x: [0.0; ROWS], rows: [[0; ROWS]; 2], n: [0; 2] };
        for channel in 0..n_channels {
            let mut summed = Aligned([[[0.0; N_BLOCK]; UNITS]; PARTS]);
            let [above, below, above_squared, below_squared] = &mut summed.0;
            for (x, d) in x.chunks(ROWS * n_channels).zip(d.chunks(ROWS)) {
                sides.take(x.chunks_exact(n_channels).map(|x| x[channel]));
                sides.add_rows::<A::Blocks>(0, d, above, above_squared);
                sides.add_rows::<A::Blocks>(1, d, below, below_squared);
            }
            for (part, summed) in summed.0.iter().enumerate() {
                gradient.give::<A>(channel, part, summed);
            }
        }
    }
}

/// Some rows of a channel, told apart by their side of 0.
struct Sides {
    /// How far from 0.
    x: [f32; ROWS],
    /// Which rows, by side.
    rows: [[u8; ROWS]; 2],
    n: [usize; 2],
}

impl Sides {
    /// Takes up to [`ROWS`] sums. Which side one is on is not asked: both lists are written to, one counts.
    #[inline(always)]
    fn take(&mut self, sums: impl Iterator<Item = f32>) {
        let [mut n_above, mut n_below] = [0, 0];
        for (row, x) in (0..ROWS).zip(sums) {
            self.x[row] = x.abs();
            self.rows[0][n_above % ROWS] = row as u8;
            self.rows[1][n_below % ROWS] = row as u8;
            n_above += 1 - side_of(x);
            n_below += side_of(x);
        }
        self.n = [n_above, n_below];
    }

    /// Adds the rows of one side, times the slopes there: numbers, and their squares.
    #[inline(always)]
    fn add_rows<B: Numbers<Memory = Block>>(
        &self,
        side: usize,
        d: &[Units],
        of_numbers: &mut Units,
        of_squares: &mut Units,
    ) {
        let (mut numbers, mut squares) = ([B::zero(); UNITS], [B::zero(); UNITS]);
        for unit in 0..UNITS {
            (numbers[unit], squares[unit]) = (B::load(&of_numbers[unit]), B::load(&of_squares[unit]));
        }
        for &row in &self.rows[side][..self.n[side]] {
            let number = B::splat(self.x[usize::from(row)]);
            let square = B::mul(number, number);
            let d = &d[usize::from(row)];
            for unit in 0..UNITS {
                let d = B::load(&d[unit]);
                numbers[unit] = B::mul_add(number, d, numbers[unit]);
                squares[unit] = B::mul_add(square, d, squares[unit]);
            }
        }
        for unit in 0..UNITS {
            B::store(numbers[unit], &mut of_numbers[unit]);
            B::store(squares[unit], &mut of_squares[unit]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::weight_update::Accumulate;

    /// The four numbers of a sum, and their slopes.
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

    /// Sums that are no number any more end as none, wherever they are read.
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
