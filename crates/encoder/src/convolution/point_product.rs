//! The matrix products between Winograd's transforms: for each of 36 points, `[tiles, n_in]` times `[n_in, n_out]`.
//!
//! Weights are packed once. With AVX-512, eight tiles and two panels of sixteen outputs are accumulated in registers:
//! 16 accumulators, enough to hide the latency of two FMA units. The order of summation depends only on the number of
//! channels: along the channels, in blocks of [`DEPTH`] whose sums are then added.

use crate::arithmetic::{AlignedFloats, F32x16, Kernel, Lanes, N_LANES};
use crate::convolution::tile_blocks::{MOST_TILES, TileBlocks, TransformedInputs};
use crate::convolution::winograd_tile::{N_POINTS, transform_kernel};

/// Number of channels that are accumulated before the accumulators are stored.
const DEPTH: usize = 256;

/// The weights of all points.
pub(super) struct PackedKernel {
    n_in: usize,
    n_out: usize,
    /// `[36 points, panels of 16 outputs, n_in, 16 outputs]`
    packed: AlignedFloats,
}

impl PackedKernel {
    /// From `[n_out, n_in, 3, 3]`.
    pub fn new(n_in: usize, n_out: usize, kernel: &[f32]) -> Self {
        let matrix_len = n_in * n_out;
        let mut packed = AlignedFloats::zeros(N_POINTS * matrix_len);
        let floats = packed.as_mut_slice();
        for (at, kernel) in kernel.as_chunks::<9>().0.iter().enumerate() {
            let (out_idx, in_idx) = (at / n_in, at % n_in);
            let place = (out_idx / N_LANES * n_in + in_idx) * N_LANES + out_idx % N_LANES;
            for (point, weight) in transform_kernel(*kernel).into_iter().enumerate() {
                floats[point * matrix_len + place] = weight;
            }
        }
        Self { n_in, n_out, packed }
    }

    /// The weights of a point, `[panels, n_in]`, followed by those of all later points.
    fn starting_at(&self, point: usize) -> &[Lanes] {
        self.packed.as_slice()[point * self.n_in * self.n_out..].as_chunks().0
    }
}

/// The products of one point.
pub(super) struct PointProduct<'a> {
    pub kernel: &'a PackedKernel,
    pub point: usize,
    pub blocks: TileBlocks,
    pub transformed: TransformedInputs<'a>,
    /// `[blocks, panels of 16 outputs, 8 tiles]`
    pub products: &'a mut [Lanes],
}

impl Kernel for PointProduct<'_> {
    #[inline(always)]
    fn run<F: F32x16>(self) {
        match F::HAS_32_REGISTERS {
            true => self.multiply::<F, 2, MOST_TILES>(),
            false => self.multiply::<F, 1, { MOST_TILES / 2 }>(),
        }
    }
}

impl PointProduct<'_> {
    /// Accumulates `TILES` tiles and `PANELS` panels in registers.
    #[inline(always)]
    fn multiply<F: F32x16, const PANELS: usize, const TILES: usize>(self) {
        let Self { kernel, point, blocks, transformed, products } = self;
        let PackedKernel { n_in, n_out, .. } = *kernel;
        let n_panels = n_out / N_LANES;
        let weights = kernel.starting_at(point);
        for panel in (0..n_panels).step_by(PANELS) {
            for first in (0..n_in).step_by(DEPTH) {
                let depth = DEPTH.min(n_in - first);
                let is_last = first + depth == n_in;
                let next_start = if is_last { (panel + PANELS) * n_in } else { panel * n_in + first + depth };
                let ahead_per_block = depth.div_ceil(blocks.n_blocks());
                let mut panels: [&[[Lanes; N_LANES]]; PANELS] = [&[]; PANELS];
                for (idx, rows) in panels.iter_mut().enumerate() {
                    // Missing panels are replaced by the last one; their sums are not stored.
                    let start = (panel + idx).min(n_panels - 1) * n_in + first;
                    *rows = weights[start..][..depth].as_chunks().0;
                }
                for (block, products) in products.chunks_exact_mut(n_panels * MOST_TILES).enumerate() {
                    let mut ahead: [&[Lanes]; PANELS] = [&[]; PANELS];
                    for (idx, ahead) in ahead.iter_mut().enumerate() {
                        let start = next_start + idx * n_in + block * ahead_per_block;
                        *ahead = weights.get(start..).unwrap_or_default();
                        *ahead = &ahead[..ahead_per_block.min(ahead.len())];
                    }
                    let n_tiles = blocks.tiles_of(block).len();
                    for first_tile in (0..n_tiles).step_by(TILES) {
                        let piece = Piece {
                            groups: transformed.groups(block, first / N_LANES, point),
                            first_tile,
                            panels,
                            products: &mut products[panel * MOST_TILES..],
                            is_added: first > 0,
                            ahead: if first_tile == 0 { ahead } else { [&[]; PANELS] },
                            wants_next_point: first_tile == 0 && panel + PANELS >= n_panels,
                        };
                        match TILES.min(n_tiles - first_tile) {
                            1 => piece.run::<F, 1>(),
                            2 => piece.run::<F, 2>(),
                            3 => piece.run::<F, 3>(),
                            4 => piece.run::<F, 4>(),
                            5 => piece.run::<F, 5>(),
                            6 => piece.run::<F, 6>(),
                            7 => piece.run::<F, 7>(),
                            _ => piece.run::<F, MOST_TILES>(),
                        }
                    }
                }
            }
        }
    }
}

/// The product of some tiles of a block and some panels, over one block of depth.
struct Piece<'a, const PANELS: usize, I> {
    /// Sixteen channels of all tiles of the block at a time, `[points, 8 tiles]` from the current point on.
    groups: I,
    first_tile: usize,
    /// `[groups, 16 channels, 16 outputs]` each.
    panels: [&'a [[Lanes; N_LANES]]; PANELS],
    /// `[panels, 8 tiles]`, from the first panel on.
    products: &'a mut [Lanes],
    /// Whether accumulators are added to the products of the previous depth.
    is_added: bool,
    /// This piece's share of the weights that are needed next. The weights of deep layers come from memory; without
    /// prefetching, multiplications would wait for them.
    ahead: [&'a [Lanes]; PANELS],
    /// Whether to prefetch the next point of the tiles, because the current point is not needed again.
    wants_next_point: bool,
}

impl<'a, const PANELS: usize, I: Iterator<Item = &'a [[Lanes; MOST_TILES]]>> Piece<'a, PANELS, I> {
    #[inline(always)]
    fn run<F: F32x16, const TILES: usize>(self) {
        let Self { groups, first_tile, panels, products, is_added, ahead, wants_next_point } = self;
        let n_groups = panels[0].len();
        let panels = panels.map(|panel| &panel[..n_groups]);
        let ahead_per_group = ahead[0].len().div_ceil(n_groups);
        let mut acc = [[F::splat(0.0); TILES]; PANELS];
        for product in products.as_chunks::<MOST_TILES>().0.iter().take(PANELS).flatten() {
            F::prefetch(product);
        }
        for (group, points) in groups.take(n_groups).enumerate() {
            for ahead in ahead {
                ahead.iter().skip(group * ahead_per_group).take(ahead_per_group).for_each(F::prefetch);
            }
            if wants_next_point && let Some(next) = points.get(1) {
                next.iter().for_each(F::prefetch);
            }
            let tiles: &[Lanes; TILES] = points[0][first_tile..].first_chunk().expect("tiles of the block");
            for channel in 0..N_LANES {
                let mut weights = [F::splat(0.0); PANELS];
                for (weights, panel) in weights.iter_mut().zip(panels) {
                    *weights = F::load(&panel[group][channel]);
                }
                for (tile, inputs) in tiles.iter().enumerate() {
                    let x = F::splat(inputs[channel]);
                    for (acc, &weights) in acc.iter_mut().zip(&weights) {
                        acc[tile] = x.mul_add(weights, acc[tile]);
                    }
                }
            }
        }
        for (products, acc) in products.as_chunks_mut::<MOST_TILES>().0.iter_mut().zip(acc) {
            for (product, sum) in products[first_tile..].iter_mut().zip(acc) {
                let sum = if is_added { F::load(product).add(sum) } else { sum };
                sum.store(product);
            }
        }
    }
}
