//! The composite of a layer for a tile of candidates: the sum of all voters' activations, weighted by their shares.

use crate::arithmetic::{Arithmetic, Block, Kernel, SimdVector};
use crate::composite::tile::{N_TILE, Tile, TouchTile, load_blocks, store_blocks};
use crate::composite::touch_stage::TouchUnit;
use crate::nonlinearity::{Nonlinearity, parts, with_known};

/// A source of a stage's pre-activations, `[n_voters, n_units]`.
pub(crate) trait PreActivations: Copy {
    /// The pre-activations of a voter's unit for blocks `first` on.
    fn blocks<B: SimdVector<Memory = Block>, const BLOCKS: usize>(
        &self,
        voter: usize,
        unit: usize,
        first: usize,
    ) -> [B::V; BLOCKS];
}

#[derive(Clone, Copy)]
pub(crate) struct Stored<'a> {
    pub x: &'a [Tile],
    pub n_units: usize,
}

impl PreActivations for Stored<'_> {
    #[inline(always)]
    fn blocks<B: SimdVector<Memory = Block>, const BLOCKS: usize>(
        &self,
        voter: usize,
        unit: usize,
        first: usize,
    ) -> [B::V; BLOCKS] {
        load_blocks::<B, BLOCKS>(&self.x[voter * self.n_units + unit], first)
    }
}

/// Linear in the touch: cheaper to recompute than to store.
#[derive(Clone, Copy)]
pub(crate) struct OfTouch<'a> {
    pub units: &'a [TouchUnit],
    pub n_units: usize,
    pub touches: &'a TouchTile,
}

impl PreActivations for OfTouch<'_> {
    #[inline(always)]
    fn blocks<B: SimdVector<Memory = Block>, const BLOCKS: usize>(
        &self,
        voter: usize,
        unit: usize,
        first: usize,
    ) -> [B::V; BLOCKS] {
        let TouchUnit { middle, row_slope, col_slope } = self.units[voter * self.n_units + unit];
        let rows = load_blocks::<B, BLOCKS>(&self.touches.rows, first);
        let cols = load_blocks::<B, BLOCKS>(&self.touches.cols, first);
        let mut x = [B::splat(middle); BLOCKS];
        for block in 0..BLOCKS {
            let with_row = B::mul_add(B::splat(row_slope), rows[block], x[block]);
            x[block] = B::mul_add(B::splat(col_slope), cols[block], with_row);
        }
        x
    }
}

/// Computes the composite of a layer, `[n_parts, n_units]`.
pub(crate) struct LayerComposite<'a, P> {
    pub nonlinearity: Nonlinearity,
    pub n_units: usize,
    pub x: P,
    pub shares: &'a [Tile],
    pub composite: &'a mut [Tile],
}

impl<P: PreActivations> Kernel for LayerComposite<'_, P> {
    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        with_known!(self.nonlinearity, |known, PARTS| match A::HAS_32_REGISTERS {
            true => self.each_unit::<A::Blocks, N_TILE, PARTS>(known),
            false => self.each_unit::<A::Blocks, 1, PARTS>(known),
        });
    }
}

impl<P: PreActivations> LayerComposite<'_, P> {
    #[inline(always)]
    fn each_unit<B: SimdVector<Memory = Block>, const BLOCKS: usize, const PARTS: usize>(
        self,
        known: Nonlinearity,
    ) {
        let Self { n_units, x, shares, composite, .. } = self;
        for unit in 0..n_units {
            for first in (0..N_TILE).step_by(BLOCKS) {
                let mut sums = [[B::zero(); BLOCKS]; PARTS];
                for (voter, share) in shares.iter().enumerate() {
                    let x = x.blocks::<B, BLOCKS>(voter, unit, first);
                    let share = load_blocks::<B, BLOCKS>(share, first);
                    for block in 0..BLOCKS {
                        let parts = parts::<B>(known, x[block]);
                        for part in 0..PARTS {
                            sums[part][block] = B::mul_add(share[block], parts[part], sums[part][block]);
                        }
                    }
                }
                for (part, sums) in sums.into_iter().enumerate() {
                    store_blocks::<B, BLOCKS>(sums, &mut composite[part * n_units + unit], first);
                }
            }
        }
    }
}

/// Stores the pre-activations of the stage that reads the touch.
pub(crate) struct StoreTouchStage<'a> {
    pub of_touch: OfTouch<'a>,
    pub x: &'a mut [Tile],
}

impl Kernel for StoreTouchStage<'_> {
    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        for (idx, x) in self.x.iter_mut().enumerate() {
            for first in 0..N_TILE {
                let block = self.of_touch.blocks::<A::Blocks, 1>(0, idx, first);
                store_blocks::<A::Blocks, 1>(block, x, first);
            }
        }
    }
}

/// Computes the composite of maps, `[n_voters, k_f]`.
pub(crate) struct MapComposite<'a> {
    pub maps: &'a [Tile],
    pub shares: &'a [Tile],
    pub composite: &'a mut [Tile],
}

impl Kernel for MapComposite<'_> {
    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        match A::HAS_32_REGISTERS {
            true => weighted_sums::<A::Blocks, N_TILE>(self.maps, self.shares, self.composite),
            false => weighted_sums::<A::Blocks, 1>(self.maps, self.shares, self.composite),
        }
    }
}

/// Adds up `values`, `[n_voters, n_sums]`, over voters, weighted by their shares.
#[inline(always)]
pub(crate) fn weighted_sums<B: SimdVector<Memory = Block>, const BLOCKS: usize>(
    values: &[Tile],
    shares: &[Tile],
    sums: &mut [Tile],
) {
    let n = values.len() / shares.len();
    for (idx, out) in sums[..n].iter_mut().enumerate() {
        for first in (0..N_TILE).step_by(BLOCKS) {
            let mut sums = [B::zero(); BLOCKS];
            for (values, share) in values.chunks_exact(n).zip(shares) {
                let share = load_blocks::<B, BLOCKS>(share, first);
                let values = load_blocks::<B, BLOCKS>(&values[idx], first);
                for block in 0..BLOCKS {
                    sums[block] = B::mul_add(share[block], values[block], sums[block]);
                }
            }
            store_blocks::<B, BLOCKS>(sums, out, first);
        }
    }
}
