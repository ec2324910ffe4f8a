//! 3 x 3 convolutions with bias and ReLU by Winograd's algorithm: transforms before and after 36 matrix products.
//!
//! Good libraries reach nine tenths of a core's peak with direct convolution, so only fewer multiplications help:
//! Winograd's algorithm needs a quarter of them. Work is divided into bands of tiles, whose transforms stay in the
//! caches. The order of summation is the same for any batch size, bands and number of threads.

use crate::arithmetic::{AlignedFloats, Instructions, N_LANES};
use crate::buffer_pool::BufferPool;
use crate::convolution::activations::Activations;
use crate::convolution::point_product::{PackedKernel, PointProduct};
use crate::convolution::tile_blocks::{BlockMut, MOST_TILES, TileBlocks, TransformedInputs};
use crate::convolution::tile_rows::{Outputs, TileRow};
use crate::convolution::winograd_tile::N_POINTS;
use crate::convolution::winograd_transforms::{InputTransform, OutputTransform};
use rayon::prelude::*;

/// Maximum number of tiles in a band, unless one row has more: large enough that weights are rarely read from memory,
/// small enough that transformed tiles stay in the caches.
const TILES_PER_BAND: usize = 64;

/// Number of unused vectors between the products of two points. Without them, the 36 streams that a transform reads
/// could compete for a few sets of the L1 cache, which repeat every 4 KB.
const POINT_GAP: usize = 1;

/// A 3 x 3 convolution, stride 1, padding 1, then bias and ReLU.
pub(crate) struct WinogradConvolution {
    n_in: usize,
    n_out: usize,
    instructions: Instructions,
    kernel: PackedKernel,
    bias: AlignedFloats,
}

/// Work buffers of bands, reused between calls.
pub(crate) type BandMemory = BufferPool<BandBuffers>;

#[derive(Default)]
pub(crate) struct BandBuffers {
    /// [`TransformedInputs`]
    transformed: AlignedFloats,
    /// `[36 points, blocks of tiles, groups of 16 outputs, 8 tiles, 16 outputs]`, with gaps between points.
    products: AlignedFloats,
}

impl WinogradConvolution {
    /// `kernel` is `[n_out, n_in, 3, 3]`; both numbers of channels must be multiples of 16.
    pub fn new(n_in: usize, n_out: usize, kernel: &[f32], bias: &[f32]) -> Self {
        Self::on(Instructions::best(), n_in, n_out, kernel, bias)
    }

    fn on(instructions: Instructions, n_in: usize, n_out: usize, kernel: &[f32], bias: &[f32]) -> Self {
        assert!(n_in.is_multiple_of(N_LANES) && n_out.is_multiple_of(N_LANES), "{n_in} to {n_out} channels");
        assert_eq!((kernel.len(), bias.len()), (n_out * n_in * 9, n_out), "weights of a 3x3 convolution");
        let kernel = PackedKernel::new(n_in, n_out, kernel);
        Self { n_in, n_out, instructions, kernel, bias: bias.into() }
    }

    /// Convolves a batch.
    pub fn run(&self, input: &Activations, outputs: Outputs, memory: &BandMemory) {
        assert_eq!(input.n_channels, self.n_in, "channels of a convolution's input");
        let mut rows = outputs.tile_rows(input, self.n_out);
        let most_rows = (TILES_PER_BAND / input.tiles_across()).max(1);
        let rows_per_band = rows.len().div_ceil(rows.len().div_ceil(most_rows));
        rows.par_chunks_mut(rows_per_band).enumerate().for_each(|(band, rows)| {
            memory.with(|buffers| self.run_band(input, band * rows_per_band, rows, buffers));
        });
    }

    /// Convolves some rows of tiles; `first_row` is the index in the batch of the first one. Threads without a band of
    /// their own help, because deep layers have a single band.
    fn run_band(
        &self,
        input: &Activations,
        first_row: usize,
        rows: &mut [TileRow],
        buffers: &mut BandBuffers,
    ) {
        let across = input.tiles_across();
        let (first_tile, n_tiles) = (first_row * across, rows.len() * across);
        let blocks = TileBlocks::new(n_tiles);
        let block_len = TransformedInputs::block_len(self.n_in);
        let transformed =
            buffers.transformed.grown(blocks.n_blocks() * block_len * N_LANES).as_chunks_mut().0;
        transformed.par_chunks_exact_mut(block_len).enumerate().for_each(|(idx, block)| {
            let tiles = blocks.tiles_of(idx);
            let tiles = first_tile + tiles.start..first_tile + tiles.end;
            self.instructions.run(InputTransform { input, tiles, block: BlockMut(block) });
        });
        let transformed = TransformedInputs::new(transformed, self.n_in);

        let n_products = blocks.n_blocks() * self.n_out / N_LANES * MOST_TILES;
        let point_stride = n_products + POINT_GAP;
        let products = buffers.products.grown(N_POINTS * point_stride * N_LANES).as_chunks_mut().0;
        products.par_chunks_exact_mut(point_stride).enumerate().for_each(|(point, products)| {
            let (kernel, products) = (&self.kernel, &mut products[..n_products]);
            self.instructions.run(PointProduct { kernel, point, blocks, transformed, products });
        });
        let products = &*products;

        let bias = &self.bias.as_slice()[..self.n_out];
        rows.par_iter_mut().enumerate().for_each(|(idx, row)| {
            let tiles = idx * across..(idx + 1) * across;
            self.instructions.run(OutputTransform { products, point_stride, blocks, tiles, bias, row });
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::convolution::naive::{check_close, convolve_3x3, noise, noise_batch, pool_2x2};

    /// On all instruction sets of this machine; AVX2 and AVX-512 must give the same bits.
    #[track_caller]
    fn check(n_images: usize, side_px: usize, n_in: usize, n_out: usize) {
        let input = noise_batch(n_images, side_px, n_in);
        let (kernel, bias) = (noise(n_out * n_in * 9, 2), noise(n_out, 3));
        // Sums of 9 n_in products of numbers up to 1; Winograd's transforms lose about two digits of seven.
        let expected = convolve_3x3(&input, &kernel, &bias);
        let tolerance = 1e-5 * (n_in as f32).sqrt() * 3.0;
        let mut results = Vec::new();
        for instructions in Instructions::all() {
            let convolution = WinogradConvolution::on(instructions, n_in, n_out, &kernel, &bias);
            let (mut full, mut pooled) = (noise_batch(1, 8, 8), noise_batch(1, 8, 8));
            let outputs = Outputs { full: Some(&mut full), pooled: Some(&mut pooled) };
            convolution.run(&input, outputs, &BandMemory::default());

            check_close(&full, &expected, tolerance);
            check_close(&pooled, &pool_2x2(&expected, side_px, n_out), tolerance);
            assert!(full.used().iter().all(|x| *x >= 0.0), "ReLU, and borders of 0");
            let outside = full.used().iter().filter(|x| **x == 0.0).count();
            let n_border = full.used().len() - expected.len();
            assert!(outside >= n_border, "borders stay 0, or the next convolution reads them");
            results.push([full.used().to_vec(), pooled.used().to_vec()]);
        }
        // The first results are those of portable code, which may round products and sums separately.
        assert!(results[1..].windows(2).all(|pair| pair[0] == pair[1]), "other bits on other instructions");
    }

    #[test]
    fn a_convolution_equals_the_naive_one() {
        check(1, 4, 16, 16);
        check(2, 14, 16, 48);
        check(3, 28, 32, 16);
        check(1, 56, 16, 16);
        check(9, 14, 16, 16);
        check(2, 8, 272, 32);
        check(1, 4, 528, 16);
    }

    #[test]
    fn an_image_has_the_same_bits_in_any_batch_and_on_any_number_of_threads() {
        let (n_in, n_out, n_images) = (272, 48, 5);
        let (kernel, bias) = (noise(n_out * n_in * 9, 2), noise(n_out, 3));
        let convolution = WinogradConvolution::new(n_in, n_out, &kernel, &bias);
        let run = |input: &Activations, n_threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
            let mut output = Activations::default();
            pool.install(|| {
                convolution.run(input, Outputs::only(false, &mut output), &BandMemory::default())
            });
            output
        };
        for side_px in [14, 28] {
            let batch = noise_batch(n_images, side_px, n_in);
            let together = run(&batch, 1);
            assert!(together.used() == run(&batch, 3).used(), "{side_px} px on three threads");
            for image in 0..n_images {
                let mut alone = Activations::default();
                alone.reshape(1, side_px, n_in);
                let len = alone.image_len();
                alone.used_mut().copy_from_slice(&batch.used()[image * len..][..len]);
                let alone = run(&alone, 2);
                let expected = &together.used()[image * alone.image_len()..][..alone.image_len()];
                assert!(alone.used() == expected, "image {image} of {side_px} px alone");
            }
        }
    }
}
