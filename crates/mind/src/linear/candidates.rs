//! `W h + b` for many candidate touches at once: wide registers along the candidates.
//!
//! Candidates are worked on in blocks of sixteen that lie near each other on the screen. Of every rectified unit a whole block
//! mostly lies on one side, so about half of a layer's numbers are 0 for all of it: those are left out. A block of a small
//! module goes through all layers without leaving the first cache; a large module takes several blocks together, so that
//! its weights come from far away less often.

use crate::arithmetic::{Block, Numbers};
use crate::nonlinearity::{Nonlinearity, parts};

/// Inputs after which sums are put down: so many of a block stay in the first cache.
const INPUTS: usize = 256;

/// The numbers of a stage that are not 0 for a whole block, and which of the stage's numbers they are.
#[derive(Clone, Copy)]
pub(crate) struct Active<'a> {
    pub columns: &'a [u32],
    pub numbers: &'a [Block],
}

/// How many units are taken together when so many are left. A block is two registers of AVX2: with six units, 12 sums, 2
/// inputs and a weight fit into 16 registers, and hide how long each sum takes. Two fours instead of a six and a two: two
/// units alone would wait for their sums.
const fn n_together(n_left: usize) -> usize {
    match n_left {
        4 | 5 | 8 => 4,
        2 | 3 => 2,
        1 => 1,
        _ => 6,
    }
}

/// Where the weights of one unit stand in the layout that products read: for each group of units, the group's weights
/// of one input side by side.
#[derive(Clone, Copy)]
pub(crate) struct PackedRow {
    first: usize,
    step: usize,
}

impl PackedRow {
    /// The weight of an input.
    #[inline(always)]
    pub fn of(self, input: usize) -> usize {
        self.first + input * self.step
    }
}

/// The places of all units.
pub(crate) fn packed_rows(n_out: usize, n_in: usize) -> impl Iterator<Item = PackedRow> {
    let (mut start, mut step) = (0, n_together(n_out));
    (0..n_out).map(move |unit| {
        if unit == start + step {
            (start, step) = (unit, n_together(n_out - unit));
        }
        PackedRow { first: start * n_in + unit - start, step }
    })
}

/// Lays out weights, `[n_out, n_in]`, as products read them.
pub(crate) fn pack_weights(weights: &[f32], n_out: usize, packed: &mut [f32]) {
    let n_in = weights.len() / n_out;
    for (weights, place) in weights.chunks_exact(n_in).zip(packed_rows(n_out, n_in)) {
        for (input, &weight) in weights.iter().enumerate() {
            packed[place.of(input)] = weight;
        }
    }
}

/// `out[unit] = b[unit] + sum_i W[unit, i] x[i]`, for some blocks. `packed` is as [`pack_weights`] leaves it, `active`
/// gives the inputs of a block, `out` is `[n_blocks, out_stride]`, of which the first `n_out` of each block are set.
#[inline(always)]
pub(crate) fn block_products<'a, B: Numbers<Memory = Block>>(
    packed: &[f32],
    biases: &[f32],
    active: impl Fn(usize) -> Active<'a>,
    out: &mut [Block],
    out_stride: usize,
) {
    let (n_in, n_out) = (packed.len() / biases.len(), biases.len());
    for out in out.chunks_exact_mut(out_stride) {
        for (out, &bias) in out.iter_mut().zip(biases) {
            B::store(B::splat(bias), out);
        }
    }
    for first in (0..n_in).step_by(INPUTS) {
        let mut unit = 0;
        while unit < n_out {
            let n = n_together(n_out - unit);
            let group = Group { packed: &packed[unit * n_in..][..n * n_in], unit, first, out_stride };
            match n {
                6 => add_units::<B, 6>(&group, &active, out),
                4 => add_units::<B, 4>(&group, &active, out),
                2 => add_units::<B, 2>(&group, &active, out),
                _ => add_units::<B, 1>(&group, &active, out),
            }
            unit += n;
        }
    }
}

/// Some units, and from which of a block's active inputs on.
struct Group<'a> {
    packed: &'a [f32],
    unit: usize,
    first: usize,
    out_stride: usize,
}

/// Adds the products of `UNITS` units for all blocks, whose weights stay in the first cache meanwhile.
#[inline(always)]
fn add_units<'a, B: Numbers<Memory = Block>, const UNITS: usize>(
    group: &Group<'_>,
    active: &impl Fn(usize) -> Active<'a>,
    out: &mut [Block],
) {
    let weights = group.packed.as_chunks::<UNITS>().0;
    for (block, out) in out.chunks_exact_mut(group.out_stride).enumerate() {
        let Active { columns, numbers } = active(block);
        if group.first >= columns.len() {
            continue;
        }
        let end = columns.len().min(group.first + INPUTS);
        let (columns, numbers) = (&columns[group.first..end], &numbers[group.first..end]);
        let Some((out, _)) = out[group.unit..].split_first_chunk_mut::<UNITS>() else { continue };
        add_rows::<B, UNITS>(weights, columns, numbers, out);
    }
}

#[inline(always)]
fn add_rows<B: Numbers<Memory = Block>, const UNITS: usize>(
    weights: &[[f32; UNITS]],
    columns: &[u32],
    numbers: &[Block],
    out: &mut [Block; UNITS],
) {
    let mut sums: [B::V; UNITS] = std::array::from_fn(|unit| B::load(&out[unit]));
    // Few units leave registers for a second sum of each, which hides how long a sum takes.
    if UNITS <= 2 {
        let mut others = [B::zero(); UNITS];
        let (column_pairs, column_rest) = columns.as_chunks::<2>();
        let (number_pairs, number_rest) = numbers.as_chunks::<2>();
        for ([one, other], [x, other_x]) in column_pairs.iter().zip(number_pairs) {
            add_column::<B, UNITS>(&weights[*one as usize], x, &mut sums);
            add_column::<B, UNITS>(&weights[*other as usize], other_x, &mut others);
        }
        for (column, x) in column_rest.iter().zip(number_rest) {
            add_column::<B, UNITS>(&weights[*column as usize], x, &mut sums);
        }
        for unit in 0..UNITS {
            sums[unit] = B::add(sums[unit], others[unit]);
        }
    } else {
        for (column, x) in columns.iter().zip(numbers) {
            add_column::<B, UNITS>(&weights[*column as usize], x, &mut sums);
        }
    }
    for unit in 0..UNITS {
        B::store(sums[unit], &mut out[unit]);
    }
}

/// Adds what one input contributes.
#[inline(always)]
fn add_column<B: Numbers<Memory = Block>, const UNITS: usize>(
    weights: &[f32; UNITS],
    x: &Block,
    sums: &mut [B::V; UNITS],
) {
    let x = B::load(x);
    for unit in 0..UNITS {
        sums[unit] = B::mul_add(B::splat(weights[unit]), x, sums[unit]);
    }
}

/// A stage's numbers from its sums, without those that are 0 for the whole block; gives how many are left. Columns are
/// counted from `first_column` on.
#[inline(always)]
pub(crate) fn block_nonlinearity<B: Numbers<Memory = Block>>(
    nonlinearity: Nonlinearity,
    sums: &[Block],
    first_column: usize,
    columns: &mut [u32],
    numbers: &mut [Block],
) -> usize {
    // Decided once, not for each unit.
    use Side::{Both, Down, Up};
    let place = Room { first_column, columns, numbers };
    match nonlinearity {
        Nonlinearity::Relu => each_unit::<B, 1>(Nonlinearity::Relu, [Up], sums, place),
        Nonlinearity::Tanh => each_unit::<B, 1>(Nonlinearity::Tanh, [Both], sums, place),
        Nonlinearity::Sigmoid => each_unit::<B, 1>(Nonlinearity::Sigmoid, [Both], sums, place),
        Nonlinearity::Elu => each_unit::<B, 1>(Nonlinearity::Elu, [Both], sums, place),
        Nonlinearity::Crelu => each_unit::<B, 2>(Nonlinearity::Crelu, [Up, Down], sums, place),
        Nonlinearity::Cres => each_unit::<B, 4>(Nonlinearity::Cres, [Up, Down, Up, Down], sums, place),
        Nonlinearity::ReluSq => each_unit::<B, 2>(Nonlinearity::ReluSq, [Up, Both], sums, place),
        Nonlinearity::Sq => each_unit::<B, 2>(Nonlinearity::Sq, [Both, Both], sums, place),
    }
}

/// For which sums a part of a nonlinearity is not 0.
#[derive(Clone, Copy)]
enum Side {
    Up,
    Down,
    Both,
}

/// Where numbers go.
struct Room<'a> {
    first_column: usize,
    columns: &'a mut [u32],
    numbers: &'a mut [Block],
}

#[inline(always)]
fn each_unit<B: Numbers<Memory = Block>, const PARTS: usize>(
    nonlinearity: Nonlinearity,
    sides: [Side; PARTS],
    sums: &[Block],
    room: Room<'_>,
) -> usize {
    let n = sums.len();
    let mut n_active = 0;
    for (unit, sums) in sums.iter().enumerate() {
        let x = B::load(sums);
        let (up, down) = (B::any_above_zero(x), B::any_below_zero(x));
        let parts = parts::<B>(nonlinearity, x);
        for part in 0..PARTS {
            B::store(parts[part], &mut room.numbers[n_active]);
            room.columns[n_active] = (room.first_column + part * n + unit) as u32;
            n_active += usize::from(match sides[part] {
                Side::Up => up,
                Side::Down => down,
                Side::Both => true,
            });
        }
    }
    n_active
}

/// The last stage: some of its sums from those of the stage before, whose nonlinearity is on the way and stays in registers.
/// `weights` are its rows.
#[inline(always)]
pub(crate) fn block_readout<'w, B: Numbers<Memory = Block>>(
    nonlinearity: Nonlinearity,
    sums: &[Block],
    weights: impl Fn(usize) -> &'w [f32],
    biases: &[f32],
    mut put: impl FnMut(usize, B::V),
) {
    let mut map = 0;
    while map < biases.len() {
        let n = (biases.len() - map).min(2);
        let rows = [weights(map), weights(map + n - 1)];
        // Decided once, not for each unit.
        let read = match nonlinearity.n_parts() {
            1 => read_maps::<B, 1>(nonlinearity, sums, rows),
            2 => read_maps::<B, 2>(nonlinearity, sums, rows),
            _ => read_maps::<B, 4>(nonlinearity, sums, rows),
        };
        for (idx, sum) in read.into_iter().enumerate().take(n) {
            put(map + idx, B::add(B::splat(biases[map + idx]), sum));
        }
        map += n;
    }
}

/// Two rows of weights times what the nonlinearity makes of sums.
#[inline(always)]
fn read_maps<B: Numbers<Memory = Block>, const PARTS: usize>(
    nonlinearity: Nonlinearity,
    sums: &[Block],
    rows: [&[f32]; 2],
) -> [B::V; 2] {
    let n = sums.len();
    let weights: [[&[f32]; PARTS]; 2] =
        rows.map(|row| std::array::from_fn(|part| &row[part * n..(part + 1) * n]));
    let mut of_parts = [[B::zero(); PARTS]; 2];
    for (unit, sums) in sums.iter().enumerate() {
        let parts = parts::<B>(nonlinearity, B::load(sums));
        for (sums, weights) in of_parts.iter_mut().zip(&weights) {
            for part in 0..PARTS {
                sums[part] = B::mul_add(B::splat(weights[part][unit]), parts[part], sums[part]);
            }
        }
    }
    of_parts.map(|parts| parts.into_iter().reduce(B::add).expect("every nonlinearity has parts"))
}
