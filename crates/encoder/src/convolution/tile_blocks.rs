//! Memory layout of transformed inputs: blocks of tiles, each multiplied in registers.

use crate::arithmetic::{Lanes, N_LANES};
use crate::convolution::winograd_tile::N_POINTS;
use std::ops::Range;

/// Maximum number of tiles in a block.
pub(super) const MOST_TILES: usize = 8;

/// Number of vectors from a tile's first point to its last, both included: points are [`MOST_TILES`] vectors apart.
const TILE_SPAN: usize = (N_POINTS - 1) * MOST_TILES + 1;

/// Number of vectors for sixteen channels of a block, `[36 points, 8 tiles]`, and one unused vector: without it, the
/// same point of all groups of channels would compete for a few cache sets.
const GROUP_LEN: usize = N_POINTS * MOST_TILES + 1;

/// A partition of tiles into blocks that are as equal as possible.
#[derive(Clone, Copy)]
pub(super) struct TileBlocks {
    n_tiles: usize,
    tiles_per_block: usize,
}

impl TileBlocks {
    pub fn new(n_tiles: usize) -> Self {
        Self { n_tiles, tiles_per_block: n_tiles.div_ceil(n_tiles.div_ceil(MOST_TILES)) }
    }

    pub fn n_blocks(&self) -> usize {
        self.n_tiles.div_ceil(self.tiles_per_block)
    }

    /// The tiles of a block; the last block may have fewer.
    pub fn tiles_of(&self, block: usize) -> Range<usize> {
        let first = block * self.tiles_per_block;
        first..self.n_tiles.min(first + self.tiles_per_block)
    }

    /// The block of a tile, and its index in the block.
    pub fn place(&self, tile: usize) -> (usize, usize) {
        (tile / self.tiles_per_block, tile % self.tiles_per_block)
    }
}

/// Transformed inputs: `[blocks, groups of 16 channels, 36 points, 8 tiles]`, one unused vector after each group.
#[derive(Clone, Copy)]
pub(super) struct TransformedInputs<'a> {
    vectors: &'a [Lanes],
    block_len: usize,
}

impl<'a> TransformedInputs<'a> {
    pub fn new(vectors: &'a [Lanes], n_in: usize) -> Self {
        Self { vectors, block_len: Self::block_len(n_in) }
    }

    /// Number of vectors in a block.
    pub fn block_len(n_in: usize) -> usize {
        n_in / N_LANES * GROUP_LEN
    }

    /// The points of a block's tiles from `point` on, sixteen channels at a time, starting at group `first`.
    #[inline(always)]
    pub fn groups(
        &self,
        block: usize,
        first: usize,
        point: usize,
    ) -> impl Iterator<Item = &'a [[Lanes; MOST_TILES]]> {
        let block = &self.vectors[block * self.block_len..][..self.block_len];
        let groups = block.as_chunks::<GROUP_LEN>().0[first..].iter();
        groups.map(move |group| &group.as_chunks().0[point..])
    }
}

/// One mutable block of [`TransformedInputs`].
pub(super) struct BlockMut<'a>(pub &'a mut [Lanes]);

impl BlockMut<'_> {
    /// The points of sixteen channels of a tile. Point `n` has index `n * MOST_TILES`.
    #[inline(always)]
    pub fn points_mut(&mut self, group: usize, tile: usize) -> &mut [Lanes; TILE_SPAN] {
        let points = self.0[group * GROUP_LEN + tile..].first_chunk_mut();
        points.expect("a block contains all points of its tiles")
    }

    /// Like `points_mut`, but read-only, and `None` after the last group.
    #[inline(always)]
    pub fn points(&self, group: usize, tile: usize) -> Option<&[Lanes; TILE_SPAN]> {
        self.0.get(group * GROUP_LEN + tile..)?.first_chunk()
    }
}
