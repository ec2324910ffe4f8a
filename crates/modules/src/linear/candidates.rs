//! `W h + b` for many candidate touches at once: the lanes of SIMD registers run along the candidates.
//!
//! Candidates are processed in blocks of sixteen neighbours on the screen. A rectified unit mostly has one sign in a whole block, so about
//! half of a layer's activations are 0 for all of it and are skipped. Where a processor has 32 registers, wide layers take tiles of
//! several blocks, which share the list of active inputs: each weight that is loaded is multiplied with all blocks of the tile,
//! and there are enough accumulators to hide the latency of multiply-adds. Inputs that are 0 in one block of a tile add
//! exactly nothing to it, so results do not depend on the size of tiles.

use crate::arithmetic::{Block, SimdVector};
use crate::nonlinearity::{MAX_PARTS, Nonlinearity, Side, parts, with_known};
use std::ops::Range;

/// Inputs after which accumulators are stored, for tiles of `tile` blocks: the activations stay in the first-level cache.
const fn inputs_per_pass(tile: usize) -> usize {
    if tile == 1 { 256 } else { 96 }
}

/// The activations of a stage that are not 0 for a whole tile of blocks, and their indices among the stage's activations.
#[derive(Clone, Copy)]
pub(crate) struct Active<'a> {
    pub columns: &'a [u32],
    /// `[n_columns, tile]`
    pub numbers: &'a [Block],
}

/// How many units are processed together when `n_left` are left. A block is two registers of AVX2: with six units, 12 accumulators, 2
/// registers of activations and a weight fit into 16 registers and hide the latency of multiply-adds. Two groups of four instead of six and
/// two: two units alone would wait for their accumulators.
const fn n_together(n_left: usize) -> usize {
    match n_left {
        4 | 5 | 8 => 4,
        2 | 3 => 2,
        1 => 1,
        _ => 6,
    }
}

/// Whether every output is a single sum of products in the order of inputs. Groups of one or two units use two accumulators
/// each, to which active inputs are added in turn: their rounding depends on the list of active inputs.
pub(crate) const fn is_summed_in_order(n_out: usize) -> bool {
    n_out > 3 && n_out.is_multiple_of(2)
}

/// Where the weights of one unit are in the layout that products read: for each group of units, the group's weights of one input are
/// adjacent.
#[derive(Clone, Copy, Default)]
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

/// The packed rows of all units.
pub(crate) fn packed_rows(n_out: usize, n_in: usize) -> impl Iterator<Item = PackedRow> {
    let (mut start, mut step) = (0, n_together(n_out));
    (0..n_out).map(move |unit| {
        if unit == start + step {
            (start, step) = (unit, n_together(n_out - unit));
        }
        PackedRow { first: start * n_in + unit - start, step }
    })
}

/// Units that are processed together, and where their packed weights are.
pub(crate) struct PackedGroup {
    pub units: Range<usize>,
    pub weights: Range<usize>,
}

/// All groups of units.
#[inline(always)]
pub(crate) fn packed_groups(n_out: usize, n_in: usize) -> impl Iterator<Item = PackedGroup> {
    let mut unit = 0;
    std::iter::from_fn(move || {
        let units = (unit < n_out).then(|| unit..unit + n_together(n_out - unit))?;
        unit = units.end;
        Some(PackedGroup { weights: units.start * n_in..units.end * n_in, units })
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

/// `out[unit] = b[unit] + sum_i W[unit, i] x[i]`, for some tiles of blocks. `packed` is the result of [`pack_weights`], `active`
/// returns the inputs of a tile, `out` is `[n_tiles, out_stride, TILE]`, of which the first `n_out` units of each tile are set.
#[inline(always)]
pub(crate) fn tile_products<'a, B: SimdVector<Memory = Block>, const TILE: usize>(
    packed: &[f32],
    biases: &[f32],
    active: impl Fn(usize) -> Active<'a>,
    out: &mut [Block],
    out_stride: usize,
) {
    let (n_in, n_out) = (packed.len() / biases.len(), biases.len());
    let (out, _) = out.as_chunks_mut::<TILE>();
    for out in out.chunks_exact_mut(out_stride) {
        for (out, &bias) in out.iter_mut().zip(biases) {
            out.iter_mut().for_each(|out| B::store(B::splat(bias), out));
        }
    }
    for first in (0..n_in).step_by(inputs_per_pass(TILE)) {
        for PackedGroup { units, weights } in packed_groups(n_out, n_in) {
            let group = Group { packed: &packed[weights], unit: units.start, first, out_stride };
            match units.len() {
                6 => add_units::<B, TILE, 6>(&group, &active, out),
                4 => add_units::<B, TILE, 4>(&group, &active, out),
                2 => add_units::<B, TILE, 2>(&group, &active, out),
                _ => add_units::<B, TILE, 1>(&group, &active, out),
            }
        }
    }
}

/// A group of units, and the first of the active inputs that are added to it now.
struct Group<'a> {
    packed: &'a [f32],
    unit: usize,
    first: usize,
    out_stride: usize,
}

/// Adds the products of `UNITS` units for all tiles; the group's weights stay in the first-level cache.
#[inline(always)]
fn add_units<'a, B: SimdVector<Memory = Block>, const TILE: usize, const UNITS: usize>(
    group: &Group<'_>,
    active: &impl Fn(usize) -> Active<'a>,
    out: &mut [[Block; TILE]],
) {
    let weights = group.packed.as_chunks::<UNITS>().0;
    for (tile, out) in out.chunks_exact_mut(group.out_stride).enumerate() {
        let Active { columns, numbers } = active(tile);
        if group.first >= columns.len() {
            continue;
        }
        let end = columns.len().min(group.first + inputs_per_pass(TILE));
        let columns = &columns[group.first..end];
        let activations = &numbers.as_chunks::<TILE>().0[group.first..end];
        let Some((out, _)) = out[group.unit..].split_first_chunk_mut::<UNITS>() else { continue };
        add_columns::<B, TILE, UNITS>(weights, columns, activations, out);
    }
}

#[inline(always)]
fn add_columns<B: SimdVector<Memory = Block>, const TILE: usize, const UNITS: usize>(
    weights: &[[f32; UNITS]],
    columns: &[u32],
    activations: &[[Block; TILE]],
    out: &mut [[Block; TILE]; UNITS],
) {
    // Plain loops: closures given to `map` and `from_fn` are not always inlined into code for wide registers.
    let mut acc = [[B::zero(); TILE]; UNITS];
    for unit in 0..UNITS {
        for i in 0..TILE {
            acc[unit][i] = B::load(&out[unit][i]);
        }
    }
    // Few units leave registers for a second accumulator of each, which hides the latency of multiply-adds.
    if UNITS <= 2 {
        let mut second = [[B::zero(); TILE]; UNITS];
        let (column_pairs, column_rest) = columns.as_chunks::<2>();
        let (pairs, rest) = activations.as_chunks::<2>();
        for ([one, other], [x, other_x]) in column_pairs.iter().zip(pairs) {
            add_column::<B, TILE, UNITS>(&weights[*one as usize], x, &mut acc);
            add_column::<B, TILE, UNITS>(&weights[*other as usize], other_x, &mut second);
        }
        for (column, x) in column_rest.iter().zip(rest) {
            add_column::<B, TILE, UNITS>(&weights[*column as usize], x, &mut acc);
        }
        for unit in 0..UNITS {
            for i in 0..TILE {
                acc[unit][i] = B::add(acc[unit][i], second[unit][i]);
            }
        }
    } else {
        for (column, x) in columns.iter().zip(activations) {
            add_column::<B, TILE, UNITS>(&weights[*column as usize], x, &mut acc);
        }
    }
    for unit in 0..UNITS {
        for i in 0..TILE {
            B::store(acc[unit][i], &mut out[unit][i]);
        }
    }
}

/// Adds the products of one input.
#[inline(always)]
pub(super) fn add_column<B: SimdVector<Memory = Block>, const TILE: usize, const UNITS: usize>(
    weights: &[f32; UNITS],
    x: &[Block; TILE],
    acc: &mut [[B::V; TILE]; UNITS],
) {
    let mut activations = [B::zero(); TILE];
    for i in 0..TILE {
        activations[i] = B::load(&x[i]);
    }
    for unit in 0..UNITS {
        let weight = B::splat(weights[unit]);
        for i in 0..TILE {
            acc[unit][i] = B::mul_add(weight, activations[i], acc[unit][i]);
        }
    }
}

/// A stage's activations for a tile of blocks, without those that are 0 for the whole tile; returns the number of the others.
/// `pre_activations` are `[n_units, TILE]`, `activations` `[n_active, TILE]`; both this and `columns` are written for up to [`N_AHEAD`] more.
#[inline(always)]
pub(crate) fn tile_nonlinearity<B: SimdVector<Memory = Block>, const TILE: usize>(
    nonlinearity: Nonlinearity,
    pre_activations: &[Block],
    columns: &mut [u32],
    activations: &mut [Block],
) -> usize {
    let x = pre_activations.as_chunks::<TILE>().0;
    let out = TileActivations { columns, activations: activations.as_chunks_mut::<TILE>().0 };
    with_known!(nonlinearity, |known, PARTS| each_unit::<B, TILE, PARTS>(known, x, out))
}

/// Activations that are written before it is known whether they stay.
pub(crate) const N_AHEAD: usize = 2;

/// Where active activations and their indices are written.
struct TileActivations<'a, const TILE: usize> {
    columns: &'a mut [u32],
    activations: &'a mut [[Block; TILE]],
}

#[inline(always)]
fn each_unit<B: SimdVector<Memory = Block>, const TILE: usize, const PARTS: usize>(
    known: Nonlinearity,
    pre_activations: &[[Block; TILE]],
    out: TileActivations<'_, TILE>,
) -> usize {
    let (n, sides) = (pre_activations.len(), known.active_sides());
    let mut n_active = 0;
    for (unit, blocks) in pre_activations.iter().enumerate() {
        let (mut up, mut down) = (false, false);
        let mut of_blocks = [[B::zero(); MAX_PARTS]; TILE];
        for (of_block, block) in of_blocks.iter_mut().zip(blocks) {
            let x = B::load(block);
            up |= B::any_above_zero(x);
            down |= B::any_below_zero(x);
            *of_block = parts::<B>(known, x);
        }
        for part in 0..PARTS {
            for (of_block, activation) in of_blocks.iter().zip(&mut out.activations[n_active]) {
                B::store(of_block[part], activation);
            }
            out.columns[n_active] = (part * n + unit) as u32;
            n_active += usize::from(match sides[part] {
                Side::Up => up,
                Side::Down => down,
                Side::Both => true,
            });
        }
    }
    n_active
}

/// The readout: the logits of a tile from the pre-activations of the last hidden stage, `[n_units, TILE]`. Activations stay
/// in registers. `weights` returns a map's row, `put` takes a map's logits for a block of the tile.
#[inline(always)]
pub(crate) fn tile_readout<'w, B: SimdVector<Memory = Block>, const TILE: usize>(
    nonlinearity: Nonlinearity,
    pre_activations: &[Block],
    weights: impl Fn(usize) -> &'w [f32],
    biases: &[f32],
    mut put: impl FnMut(usize, usize, B::V),
) {
    let x = pre_activations.as_chunks::<TILE>().0;
    let mut map = 0;
    while map < biases.len() {
        let n = (biases.len() - map).min(2);
        let rows = [weights(map), weights(map + n - 1)];
        for block in 0..TILE {
            // Matched once, not for each unit.
            let logits = match nonlinearity.n_parts() {
                1 => read_maps::<B, TILE, 1>(nonlinearity, x, block, rows),
                2 => read_maps::<B, TILE, 2>(nonlinearity, x, block, rows),
                _ => read_maps::<B, TILE, 4>(nonlinearity, x, block, rows),
            };
            for (idx, logit) in logits.into_iter().enumerate().take(n) {
                put(map + idx, block, B::add(B::splat(biases[map + idx]), logit));
            }
        }
        map += n;
    }
}

/// Two rows of weights times a block's activations.
#[inline(always)]
fn read_maps<B: SimdVector<Memory = Block>, const TILE: usize, const PARTS: usize>(
    nonlinearity: Nonlinearity,
    pre_activations: &[[Block; TILE]],
    block: usize,
    rows: [&[f32]; 2],
) -> [B::V; 2] {
    let n = pre_activations.len();
    let weights: [[&[f32]; PARTS]; 2] =
        rows.map(|row| std::array::from_fn(|part| &row[part * n..(part + 1) * n]));
    let mut of_parts = [[B::zero(); PARTS]; 2];
    for (unit, blocks) in pre_activations.iter().enumerate() {
        let parts = parts::<B>(nonlinearity, B::load(&blocks[block]));
        for (acc, weights) in of_parts.iter_mut().zip(&weights) {
            for part in 0..PARTS {
                acc[part] = B::mul_add(B::splat(weights[part][unit]), parts[part], acc[part]);
            }
        }
    }
    of_parts.map(|parts| parts.into_iter().reduce(B::add).expect("every nonlinearity has parts"))
}
