//! Winograd's transforms of many tiles, from activations to the operands of the matrix products and back.
//!
//! Both are limited by memory, not by arithmetic: they prefetch the next tile while they work on the current one.

use crate::arithmetic::{F32x16, Kernel, Lanes, N_LANES};
use crate::convolution::activations::{Activations, TILE_SIDE};
use crate::convolution::tile_blocks::{BlockMut, MOST_TILES, TileBlocks};
use crate::convolution::tile_rows::TileRow;
use crate::convolution::winograd_tile::{N_POINTS, PATCH_SIDE, transform_input, transform_output};
use std::ops::Range;

/// Transforms the inputs of one block's tiles.
pub(super) struct InputTransform<'a> {
    pub input: &'a Activations,
    /// Indices in the batch: by image, then row of tiles, then column.
    pub tiles: Range<usize>,
    pub block: BlockMut<'a>,
}

impl Kernel for InputTransform<'_> {
    #[inline(always)]
    fn run<F: F32x16>(self) {
        // Lengths are in vectors of sixteen channels from here on.
        let Self { input, tiles, mut block } = self;
        let inputs = input.used().as_chunks::<N_LANES>().0;
        let (n_groups, row_len) = (input.n_channels / N_LANES, input.row_len() / N_LANES);
        let (image_len, across) = (input.image_len() / N_LANES, input.tiles_across());
        for (idx, tile) in tiles.enumerate() {
            let (image, row, col) = (tile / (across * across), tile / across % across, tile % across);
            let corner = image * image_len + row * TILE_SIDE * row_len + col * TILE_SIDE * n_groups;
            let mut lines: [&[Lanes]; PATCH_SIDE] = [&[]; PATCH_SIDE];
            for (row, line) in lines.iter_mut().enumerate() {
                *line = &inputs[corner + row * row_len..];
            }
            for group in 0..n_groups {
                // The columns that the next tile does not share with the current one.
                for line in lines {
                    for col in PATCH_SIDE..PATCH_SIDE + TILE_SIDE {
                        line.get(col * n_groups + group).map(F::prefetch);
                    }
                }
                if let Some(next) = block.points(group + 1, idx) {
                    next.iter().step_by(MOST_TILES).for_each(F::prefetch);
                }
                let points = block.points_mut(group, idx);
                transform_input(
                    |row, col| F::load(&lines[row][col * n_groups + group]),
                    |point, x: F| x.store(&mut points[point * MOST_TILES]),
                );
            }
        }
    }
}

/// Transforms the products of one row of tiles back, adds the bias, applies ReLU, and pools if requested.
pub(super) struct OutputTransform<'a, 'b> {
    /// `[36 points, blocks, groups of 16 outputs, 8 tiles]`, with gaps between points.
    pub products: &'a [Lanes],
    /// Number of vectors from one point to the next.
    pub point_stride: usize,
    pub blocks: TileBlocks,
    /// The row's tiles, as indices among all tiles of the blocks.
    pub tiles: Range<usize>,
    pub bias: &'a [f32],
    pub row: &'a mut TileRow<'b>,
}

impl Kernel for OutputTransform<'_, '_> {
    #[inline(always)]
    fn run<F: F32x16>(self) {
        let Self { products, point_stride, blocks, tiles, bias, row } = self;
        let biases = bias.as_chunks::<N_LANES>().0;
        let mut points: [&[Lanes]; N_POINTS] = [&[]; N_POINTS];
        for (point, products) in points.iter_mut().zip(products.chunks_exact(point_stride)) {
            *point = products;
        }
        for (col, tile) in tiles.enumerate() {
            let (block, idx) = blocks.place(tile);
            for (group, bias) in biases.iter().enumerate() {
                let at = (block * biases.len() + group) * MOST_TILES + idx;
                for point in points {
                    point.get(at + MOST_TILES).map(F::prefetch);
                }
                let tile = rectified(transform_output(|point| F::load(&points[point][at])), F::load(bias));
                if let Some(full) = &mut row.full {
                    full.store(col, group, &tile);
                }
                if let Some(pooled) = &mut row.pooled {
                    pooled.store(col, group, &maxima(&tile));
                }
            }
        }
    }
}

/// `relu(tile + bias)`
#[inline(always)]
fn rectified<F: F32x16>(mut tile: [[F; 4]; 4], bias: F) -> [[F; 4]; 4] {
    for line in &mut tile {
        for x in line {
            *x = x.add(bias).max(F::splat(0.0));
        }
    }
    tile
}

/// Maxima over 2 x 2.
#[inline(always)]
fn maxima<F: F32x16>(tile: &[[F; 4]; 4]) -> [[F; 2]; 2] {
    let [a, b, c, d] = tile;
    let max = |above: &[F; 4], below: &[F; 4], col: usize| {
        above[col].max(above[col + 1]).max(below[col].max(below[col + 1]))
    };
    [[max(a, b, 0), max(a, b, 2)], [max(c, d, 0), max(c, d, 2)]]
}
