//! Memory layout of transformed inputs: tiles in blocks, each of which is multiplied in registers.

use crate::arithmetic::{Lanes, N_LANES};
use crate::convolution::winograd_tile::N_POINTS;
use std::ops::Range;

/// Tiles that fit into a block.
pub(super) const MOST_TILES: usize = 8;

/// Vectors from a tile's first point to its last one, both included: points are [`MOST_TILES`] vectors apart.
const TILE_SPAN: usize = (N_POINTS - 1) * MOST_TILES + 1;

/// Vectors of sixteen channels of a block, `[36 points, 8 tiles]`, and one unused vector: without it the same point of all
/// groups of channels would share a few sets of the caches.
const GROUP_LEN: usize = N_POINTS * MOST_TILES + 1;

/// Tiles cut into blocks, as equal as possible.
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

    /// The tiles of a block; the last one may have fewer than the others.
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

    /// Vectors of a block.
    pub fn block_len(n_in: usize) -> usize {
        n_in / N_LANES * GROUP_LEN
    }

    /// The points of a block's tiles from one point on, sixteen channels at a time, starting at group `first`.
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

/// One block of [`TransformedInputs`], to write.
pub(super) struct BlockMut<'a>(pub &'a mut [Lanes]);

impl BlockMut<'_> {
    /// The points of sixteen channels of a tile. Point `n` has index `n * MOST_TILES`.
    #[inline(always)]
    pub fn points_mut(&mut self, group: usize, tile: usize) -> &mut [Lanes; TILE_SPAN] {
        let points = self.0[group * GROUP_LEN + tile..].first_chunk_mut();
        points.expect("a block holds all points of its tiles")
    }

    /// The same to look at; `None` beyond the last group.
    #[inline(always)]
    pub fn points(&self, group: usize, tile: usize) -> Option<&[Lanes; TILE_SPAN]> {
        self.0.get(group * GROUP_LEN + tile..)?.first_chunk()
    }
}
