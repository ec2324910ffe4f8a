//! A tile of candidates: four blocks that pass through all stages of a composite together, so that each weight is read once
//! for all of them.

use crate::arithmetic::{Block, N_BLOCK, SimdVector};

pub(crate) const N_TILE: usize = 4;

/// One value for each candidate of a tile.
pub(crate) type Tile = [Block; N_TILE];

pub(crate) const ZERO_TILE: Tile = [[0.0; N_BLOCK]; N_TILE];

/// The touches of a tile's candidates.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TouchTile {
    pub rows: Tile,
    pub cols: Tile,
}

/// `BLOCKS` blocks of a tile, from `first` on.
#[inline(always)]
pub(crate) fn load_blocks<B: SimdVector<Memory = Block>, const BLOCKS: usize>(
    tile: &Tile,
    first: usize,
) -> [B::V; BLOCKS] {
    let mut blocks = [B::zero(); BLOCKS];
    for (idx, block) in blocks.iter_mut().enumerate() {
        *block = B::load(&tile[first + idx]);
    }
    blocks
}

#[inline(always)]
pub(crate) fn store_blocks<B: SimdVector<Memory = Block>, const BLOCKS: usize>(
    blocks: [B::V; BLOCKS],
    tile: &mut Tile,
    first: usize,
) {
    for (idx, block) in blocks.into_iter().enumerate() {
        B::store(block, &mut tile[first + idx]);
    }
}
