//! A weight matrix whose rows are grouped so that a group's accumulators fit into registers, and products with it.
//!
//! The order of summation must not change, because results depend on it. Most rows add one input after another. The last one
//! to three rows, unless they are part of a group of four or six, have two accumulators, to which inputs are added in turn, and
//! which are joined every [`N_PIECE`] inputs: with few rows, the latency of additions would dominate. Group widths may change.

use crate::arithmetic::{Block, SimdVector};
use crate::composite::activation_list::ActivationList;
use crate::composite::tile::{Tile, load_blocks, store_blocks};

/// Inputs after which the two accumulators of a row are joined.
pub(crate) const N_PIECE: usize = 256;

/// The products that rows are grouped for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Grouping {
    /// [`PackedRows::tile_products`]: few rows, several blocks.
    Tiles,
    /// The same, with one accumulator for every row.
    TilesInOrder,
    /// [`PackedRows::list_products`]: one block, and more rows if there are 32 registers of 16 floats.
    Lists { has_wide_registers: bool },
}

/// Rows of a group; the last `n_paired` have two accumulators each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RowGroup {
    pub first: usize,
    pub width: usize,
    pub n_paired: usize,
}

/// A matrix, `[n_out, n_in]`, stored as `[n_in, width]` for each group of rows.
#[derive(Clone, Debug)]
pub(crate) struct PackedRows {
    weights: Vec<f32>,
    groups: Vec<RowGroup>,
    n_in: usize,
}

/// The number of last rows with two accumulators.
const fn n_paired(n_out: usize) -> usize {
    match (n_out, n_out % 6) {
        (2, _) => 2,
        (_, 3) => 3,
        (_, 1 | 5) => 1,
        _ => 0,
    }
}

/// The width of the next group, and how many rows of it are paired.
fn next_group(n_left: usize, grouping: Grouping) -> (usize, usize) {
    if grouping == Grouping::TilesInOrder {
        return match n_left {
            1..=4 => (n_left, 0),
            5 | 8 => (4, 0),
            _ => (6, 0),
        };
    }
    let paired = n_paired(n_left);
    let single = n_left - paired;
    let is_wide = grouping == Grouping::Lists { has_wide_registers: true };
    match single {
        0 => (paired, paired),
        4 | 6 if is_wide => (single + paired, paired),
        4 | 8 => (4, 0),
        6 | 10 | 14 => (6, 0),
        12 if paired > 0 => (6, 0),
        _ if is_wide => (12, 0),
        _ => (6, 0),
    }
}

impl PackedRows {
    pub fn new(n_out: usize, n_in: usize, grouping: Grouping) -> Self {
        let (mut groups, mut first) = (Vec::new(), 0);
        while first < n_out {
            let (width, n_paired) = next_group(n_out - first, grouping);
            groups.push(RowGroup { first, width, n_paired });
            first += width;
        }
        Self { weights: vec![0.0; n_out * n_in], groups, n_in }
    }

    /// The groups, each with its weights, `[n_in, width]`.
    #[inline(always)]
    pub fn groups_mut(&mut self) -> impl Iterator<Item = (RowGroup, &mut [f32])> {
        let n_in = self.n_in;
        let mut rest = &mut self.weights[..];
        self.groups.iter().map(move |&group| {
            let (weights, after) = std::mem::take(&mut rest).split_at_mut(group.width * n_in);
            rest = after;
            (group, weights)
        })
    }

    #[inline(always)]
    pub fn groups(&self) -> impl Iterator<Item = (RowGroup, &[f32])> {
        self.groups
            .iter()
            .map(|&group| (group, &self.weights[group.first * self.n_in..][..group.width * self.n_in]))
    }

    /// `matrix` is `[n_out, n_in]`.
    pub fn load(&mut self, matrix: &[f32]) {
        let n_in = self.n_in;
        for (group, packed) in self.groups_mut() {
            let rows = matrix[group.first * n_in..].chunks_exact(n_in).take(group.width);
            for (lane, row) in rows.enumerate() {
                let places = packed[lane..].iter_mut().step_by(group.width);
                places.zip(row).for_each(|(place, &weight)| *place = weight);
            }
        }
    }

    /// The same, with column `i` at `place_of(i)`.
    pub fn load_columns(&mut self, matrix: &[f32], place_of: impl Fn(usize) -> usize) {
        let n_in = self.n_in;
        for (group, packed) in self.groups_mut() {
            for column in 0..n_in {
                let places = &mut packed[place_of(column) * group.width..][..group.width];
                let weights = matrix[group.first * n_in + column..].iter().step_by(n_in);
                places.iter_mut().zip(weights).for_each(|(place, &weight)| *place = weight);
            }
        }
    }

    pub fn load_from(&mut self, weight: impl Fn(usize, usize) -> f32) {
        for (group, packed) in self.groups_mut() {
            for (column, weights) in packed.chunks_exact_mut(group.width).enumerate() {
                weights
                    .iter_mut()
                    .enumerate()
                    .for_each(|(lane, place)| *place = weight(group.first + lane, column));
            }
        }
    }

    /// `out[row] = biases[row] + sum_i W[row, i] x[i]` for all candidates of a tile.
    #[inline(always)]
    pub fn tile_products<B: SimdVector<Memory = Block>, const BLOCKS: usize>(
        &self,
        biases: &[f32],
        x: &[Tile],
        out: &mut [Tile],
    ) {
        debug_assert_eq!(x.len(), self.n_in);
        for (RowGroup { first, width, n_paired }, weights) in self.groups() {
            let (biases, out) = (&biases[first..first + width], &mut out[first..first + width]);
            match (width, n_paired) {
                (6, 0) => tile_rows::<B, BLOCKS, 6, 0>(weights, biases, x, out),
                (4, 0) => tile_rows::<B, BLOCKS, 4, 0>(weights, biases, x, out),
                (3, 0) => tile_rows::<B, BLOCKS, 3, 0>(weights, biases, x, out),
                (2, 0) => tile_rows::<B, BLOCKS, 2, 0>(weights, biases, x, out),
                (1, 0) => tile_rows::<B, BLOCKS, 1, 0>(weights, biases, x, out),
                (3, 3) => tile_rows::<B, BLOCKS, 3, 3>(weights, biases, x, out),
                (2, 2) => tile_rows::<B, BLOCKS, 2, 2>(weights, biases, x, out),
                (1, 1) => tile_rows::<B, BLOCKS, 1, 1>(weights, biases, x, out),
                sizes => unreachable!("no group for tiles has the sizes {sizes:?}"),
            }
        }
    }

    /// `out[row] = biases[row] + sum_i W[row, i] x[i]` for a block of a tile; `list` has the `x` that are not 0. `BLOCKS` is the
    /// width for which rows were grouped: more than one with 32 registers.
    #[inline(always)]
    pub fn list_products<B: SimdVector<Memory = Block>, const BLOCKS: usize>(
        &self,
        biases: &[f32],
        list: &ActivationList,
        block: usize,
        out: &mut [Tile],
    ) {
        for (RowGroup { first, width, n_paired }, weights) in self.groups() {
            let (biases, out) = (&biases[first..first + width], &mut out[first..first + width]);
            match (width, n_paired) {
                (12, 0) if BLOCKS > 1 => list_rows::<B, 12, 0>(weights, biases, list, block, out),
                (6, 0) => list_rows::<B, 6, 0>(weights, biases, list, block, out),
                (4, 0) => list_rows::<B, 4, 0>(weights, biases, list, block, out),
                (9, 3) if BLOCKS > 1 => list_rows::<B, 9, 3>(weights, biases, list, block, out),
                (7, 1) if BLOCKS > 1 => list_rows::<B, 7, 1>(weights, biases, list, block, out),
                (5, 1) if BLOCKS > 1 => list_rows::<B, 5, 1>(weights, biases, list, block, out),
                (3, 3) => list_rows::<B, 3, 3>(weights, biases, list, block, out),
                (2, 2) => list_rows::<B, 2, 2>(weights, biases, list, block, out),
                (1, 1) => list_rows::<B, 1, 1>(weights, biases, list, block, out),
                sizes => unreachable!("no group for lists has the sizes {sizes:?}"),
            }
        }
    }
}

#[inline(always)]
fn tile_rows<B: SimdVector<Memory = Block>, const BLOCKS: usize, const ROWS: usize, const PAIRED: usize>(
    weights: &[f32],
    biases: &[f32],
    x: &[Tile],
    out: &mut [Tile],
) {
    debug_assert!(PAIRED == 0 || PAIRED == ROWS, "a group for tiles is paired as a whole");
    let weights = weights.as_chunks::<ROWS>().0;
    for first in (0..x[0].len()).step_by(BLOCKS) {
        let mut sums = [[B::zero(); BLOCKS]; ROWS];
        for (sums, &bias) in sums.iter_mut().zip(biases) {
            *sums = [B::splat(bias); BLOCKS];
        }
        if PAIRED == 0 {
            for (weights, x) in weights.iter().zip(x) {
                add_input::<B, BLOCKS, ROWS>(weights, load_blocks::<B, BLOCKS>(x, first), &mut sums);
            }
        } else {
            for (weights, x) in weights.chunks(N_PIECE).zip(x.chunks(N_PIECE)) {
                let mut others = [[B::zero(); BLOCKS]; ROWS];
                let (weight_pairs, weight_rest) = weights.as_chunks::<2>();
                let (x_pairs, x_rest) = x.as_chunks::<2>();
                for ([weights, other_weights], [x, other_x]) in weight_pairs.iter().zip(x_pairs) {
                    add_input::<B, BLOCKS, ROWS>(weights, load_blocks::<B, BLOCKS>(x, first), &mut sums);
                    let x = load_blocks::<B, BLOCKS>(other_x, first);
                    add_input::<B, BLOCKS, ROWS>(other_weights, x, &mut others);
                }
                for (weights, x) in weight_rest.iter().zip(x_rest) {
                    add_input::<B, BLOCKS, ROWS>(weights, load_blocks::<B, BLOCKS>(x, first), &mut sums);
                }
                for (sum, &other) in sums.as_flattened_mut().iter_mut().zip(others.as_flattened()) {
                    *sum = B::add(*sum, other);
                }
            }
        }
        for (sums, out) in sums.into_iter().zip(&mut *out) {
            store_blocks::<B, BLOCKS>(sums, out, first);
        }
    }
}

/// Adds the products of one input.
#[inline(always)]
fn add_input<B: SimdVector<Memory = Block>, const BLOCKS: usize, const ROWS: usize>(
    weights: &[f32; ROWS],
    x: [B::V; BLOCKS],
    sums: &mut [[B::V; BLOCKS]; ROWS],
) {
    for row in 0..ROWS {
        let weight = B::splat(weights[row]);
        for block in 0..BLOCKS {
            sums[row][block] = B::mul_add(weight, x[block], sums[row][block]);
        }
    }
}

#[inline(always)]
fn list_rows<B: SimdVector<Memory = Block>, const ROWS: usize, const PAIRED: usize>(
    weights: &[f32],
    biases: &[f32],
    list: &ActivationList,
    block: usize,
    out: &mut [Tile],
) {
    let weights = weights.as_chunks::<ROWS>().0;
    let n_single = ROWS - PAIRED;
    let mut sums = [B::zero(); ROWS];
    for (sum, &bias) in sums.iter_mut().zip(biases) {
        *sum = B::splat(bias);
    }
    for (columns, x) in list.columns().chunks(N_PIECE).zip(list.values().chunks(N_PIECE)) {
        let mut others = [B::zero(); PAIRED];
        let (column_pairs, column_rest) = columns.as_chunks::<2>();
        let (x_pairs, x_rest) = x.as_chunks::<2>();
        for ([column, other_column], [x, other_x]) in column_pairs.iter().zip(x_pairs) {
            let (weights, other_weights) = (&weights[*column as usize], &weights[*other_column as usize]);
            let (x, other_x) = (B::load(x), B::load(other_x));
            for row in 0..ROWS {
                sums[row] = B::mul_add(B::splat(weights[row]), x, sums[row]);
            }
            for row in 0..n_single {
                sums[row] = B::mul_add(B::splat(other_weights[row]), other_x, sums[row]);
            }
            for row in n_single..ROWS {
                let other = &mut others[row - n_single];
                *other = B::mul_add(B::splat(other_weights[row]), other_x, *other);
            }
        }
        for (column, x) in column_rest.iter().zip(x_rest) {
            let (weights, x) = (&weights[*column as usize], B::load(x));
            for row in 0..ROWS {
                sums[row] = B::mul_add(B::splat(weights[row]), x, sums[row]);
            }
        }
        for (sum, &other) in sums[n_single..].iter_mut().zip(&others) {
            *sum = B::add(*sum, other);
        }
    }
    for (sum, out) in sums.into_iter().zip(out) {
        B::store(sum, &mut out[block]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arithmetic::{Arithmetic, Instructions, Kernel, N_BLOCK};
    use crate::composite::cres_votes::unit_major;
    use crate::composite::tile::{N_TILE, ZERO_TILE};
    use crate::nonlinearity::Nonlinearity;

    /// A hash of `seed` in (-1, 1).
    fn noise(seed: usize) -> f32 {
        let bits = (seed as u32).wrapping_mul(2_654_435_761).wrapping_add(12_345).wrapping_mul(2_246_822_519);
        (bits >> 8) as f32 / (1 << 23) as f32 - 1.0
    }

    /// The fixed order of summation: groups of six and four, then paired rows.
    fn is_paired(row: usize, n_out: usize) -> bool {
        let (mut first, mut width) = (0, 0);
        while first + width <= row {
            first += width;
            width = match n_out - first {
                4 | 5 | 8 => 4,
                2 | 3 => 2,
                1 => 1,
                _ => 6,
            };
        }
        width <= 2
    }

    /// The sum of `weight * x`, with one or two accumulators.
    fn naive<A: Arithmetic>(bias: f32, is_paired: bool, inputs: &[(f32, f32)]) -> f32 {
        let mut sum = bias;
        for piece in inputs.chunks(N_PIECE) {
            let mut other = 0.0;
            for (idx, &(weight, x)) in piece.iter().enumerate() {
                let sum = if is_paired && idx % 2 == 1 { &mut other } else { &mut sum };
                *sum = A::mul_add_one(weight, x, *sum);
            }
            sum += other;
        }
        sum
    }

    struct Check;

    impl Kernel for Check {
        #[inline(always)]
        fn run<A: Arithmetic>(self) {
            let lists = Grouping::Lists { has_wide_registers: A::HAS_32_REGISTERS };
            for n_out in (1..=36).chain([65, 129]) {
                for n_units in [1, 3, 150] {
                    let n_in = 4 * n_units;
                    let matrix: Vec<f32> = (0..n_out * n_in).map(noise).collect();
                    let biases: Vec<f32> = (0..n_out).map(|row| noise(row + 77)).collect();
                    // A third of the units on either side of 0, a third on both, some exactly 0.
                    let at = |unit: usize, candidate: usize| match unit % 7 {
                        0 => noise(unit * 64 + candidate).abs(),
                        1 | 5 => -noise(unit * 64 + candidate).abs(),
                        2 => 0.0,
                        _ => noise(unit * 64 + candidate),
                    };
                    let x: Vec<Tile> = (0..n_units)
                        .map(|unit| {
                            std::array::from_fn(|block| {
                                std::array::from_fn(|lane| at(unit, block * N_BLOCK + lane))
                            })
                        })
                        .collect();
                    let what = format!("{n_out} rows, {n_in} inputs, wide {}", A::HAS_32_REGISTERS);
                    check_cres::<A>(lists, &matrix, &biases, &x, &what);
                    check_lists::<A>(lists, &matrix, &biases, &x, &what);
                    for grouping in [Grouping::Tiles, Grouping::TilesInOrder] {
                        check_tiles::<A>(grouping, &matrix[..n_out * n_units], &biases, &x, &what);
                    }
                }
            }
        }
    }

    fn value(tiles: &[Tile], idx: usize, candidate: usize) -> f32 {
        tiles[idx][candidate / N_BLOCK][candidate % N_BLOCK]
    }

    #[track_caller]
    fn check<A: Arithmetic>(
        out: &[Tile],
        biases: &[f32],
        pairs: bool,
        what: &str,
        inputs: impl Fn(usize, usize) -> Vec<(f32, f32)>,
    ) {
        for row in 0..biases.len() {
            for candidate in (0..N_TILE * N_BLOCK).step_by(5) {
                let is_paired = pairs && is_paired(row, biases.len());
                let wanted = naive::<A>(biases[row], is_paired, &inputs(row, candidate));
                let found = value(out, row, candidate);
                assert_eq!(found, wanted, "{what}: row {row}, candidate {candidate}");
            }
        }
    }

    fn check_tiles<A: Arithmetic>(
        grouping: Grouping,
        matrix: &[f32],
        biases: &[f32],
        x: &[Tile],
        what: &str,
    ) {
        let n_in = x.len();
        let mut packed = PackedRows::new(biases.len(), n_in, grouping);
        packed.load(matrix);
        let inputs = |row: usize, candidate: usize| {
            (0..n_in).map(|idx| (matrix[row * n_in + idx], value(x, idx, candidate))).collect()
        };
        let mut out = vec![ZERO_TILE; biases.len()];
        packed.tile_products::<A::Blocks, N_TILE>(biases, x, &mut out);
        check::<A>(&out, biases, grouping == Grouping::Tiles, what, inputs);
        let mut out = vec![ZERO_TILE; biases.len()];
        packed.tile_products::<A::Blocks, 1>(biases, x, &mut out);
        check::<A>(&out, biases, grouping == Grouping::Tiles, what, inputs);
    }

    /// The activations of CReS that are not 0 for a whole block, unit by unit: column and value.
    fn active(x: &[Tile], candidate: usize) -> Vec<(usize, f32)> {
        let (n, block) = (x.len(), candidate / N_BLOCK);
        let mut active = Vec::new();
        for unit in 0..n {
            let sides = [1.0, -1.0].map(|sign| (sign, x[unit][block].iter().any(|x| sign * x > 0.0)));
            for power in 0..2 {
                for (side, (sign, is_active)) in sides.into_iter().enumerate() {
                    let rectified = (sign * value(x, unit, candidate)).max(0.0);
                    let activation = if power == 0 { rectified } else { rectified * rectified };
                    if is_active {
                        active.push(((2 * power + side) * n + unit, activation));
                    }
                }
            }
        }
        active
    }

    fn check_cres<A: Arithmetic>(lists: Grouping, matrix: &[f32], biases: &[f32], x: &[Tile], what: &str) {
        let n_in = 4 * x.len();
        let mut packed = PackedRows::new(biases.len(), n_in, lists);
        packed.load_columns(matrix, unit_major(x.len()));
        let mut out = vec![ZERO_TILE; biases.len()];
        for block in 0..N_TILE {
            match A::HAS_32_REGISTERS {
                true => packed.cres_products::<A::Blocks, N_TILE>(biases, x, block, &mut out),
                false => packed.cres_products::<A::Blocks, 1>(biases, x, block, &mut out),
            }
        }
        check::<A>(&out, biases, true, what, |row, candidate| {
            let active = active(x, candidate).into_iter();
            active.map(|(column, x)| (matrix[row * n_in + column], x)).collect()
        });
    }

    /// With ReLU, lists can have an odd number of activations.
    fn check_lists<A: Arithmetic>(lists: Grouping, matrix: &[f32], biases: &[f32], x: &[Tile], what: &str) {
        let n_in = x.len();
        let matrix = &matrix[..biases.len() * n_in];
        let mut packed = PackedRows::new(biases.len(), n_in, lists);
        packed.load(matrix);
        let mut list = ActivationList::new(n_in);
        let mut out = vec![ZERO_TILE; biases.len()];
        for block in 0..N_TILE {
            list.set::<A::Blocks>(Nonlinearity::Relu, n_in, x, block);
            match A::HAS_32_REGISTERS {
                true => packed.list_products::<A::Blocks, N_TILE>(biases, &list, block, &mut out),
                false => packed.list_products::<A::Blocks, 1>(biases, &list, block, &mut out),
            }
        }
        check::<A>(&out, biases, true, what, |row, candidate| {
            let active = active(x, candidate).into_iter().filter(|&(column, _)| column < n_in);
            active.map(|(column, x)| (matrix[row * n_in + column], x)).collect()
        });
    }

    /// Bit-exact, however rows are grouped.
    #[test]
    fn order_of_summation_is_fixed() {
        Instructions::all().for_each(|instructions| instructions.run(Check));
    }
}
