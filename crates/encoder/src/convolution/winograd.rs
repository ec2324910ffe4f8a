//! A 3 x 3 convolution with bias and ReLU, by Winograd's algorithm: transforms by hand around 36 matrix products.
//!
//! Direct convolution is at nine tenths of a core's peak in good libraries, so only fewer multiplications help; these
//! are a quarter. Work is cut into bands of about a hundred tiles whose transforms stay in the cache. Every number
//! is summed in the same order whatever the batch, the bands and the number of threads.

use crate::buffer_pool::BufferPool;
use crate::convolution::activations::{Activations, TILE_SIDE};
use crate::convolution::band::{Band, BandOutput, Square, bands};
use crate::convolution::winograd_tile::{
    Lanes, N_LANES, N_POINTS, PATCH_SIDE, transform_input, transform_kernel, transform_output,
};
use crate::instructions::{Work, on_best_instructions};
use crate::matrix_product::PackedMatrix;
use rayon::prelude::*;

/// Keeps the 36 streams that a transform writes apart in the cache, whose sets repeat every 4 KB.
const STREAM_GAP: usize = 16;

/// A 3 x 3 convolution, stride 1, padding 1, then bias and ReLU.
pub(crate) struct WinogradConvolution {
    n_in: usize,
    n_out: usize,
    /// `[n_in, n_out]` for each of the 36 points.
    kernels: Vec<PackedMatrix>,
    bias: Vec<f32>,
}

/// What a convolution leaves behind; whatever is asked for takes the right shape.
pub(crate) struct Outputs<'a> {
    /// All of it.
    pub full: Option<&'a mut Activations>,
    /// Its maxima over 2 x 2 pixels.
    pub pooled: Option<&'a mut Activations>,
}

impl<'a> Outputs<'a> {
    /// One of the two.
    pub fn only(pooled: bool, out: &'a mut Activations) -> Self {
        if pooled { Self { full: None, pooled: Some(out) } } else { Self { full: Some(out), pooled: None } }
    }
}

/// Memory of bands under way, kept between calls.
pub(crate) type BandMemory = BufferPool<BandBuffers>;

#[derive(Default)]
pub(crate) struct BandBuffers {
    /// `[36 points, n_tiles, n_in]`, with gaps.
    transformed: Vec<f32>,
    /// `[36 points, n_tiles, n_out]`, with gaps.
    products: Vec<f32>,
}

impl WinogradConvolution {
    /// `kernel` is `[n_out, n_in, 3, 3]`; both numbers of channels must be multiples of 8.
    pub fn new(n_in: usize, n_out: usize, kernel: &[f32], bias: &[f32]) -> Self {
        assert!(n_in.is_multiple_of(N_LANES) && n_out.is_multiple_of(N_LANES), "{n_in} to {n_out} channels");
        assert_eq!((kernel.len(), bias.len()), (n_out * n_in * 9, n_out), "numbers of a 3x3 convolution");
        let mut transformed = vec![vec![0.0; n_in * n_out]; N_POINTS];
        for (at, kernel) in kernel.as_chunks::<9>().0.iter().enumerate() {
            let (out_idx, in_idx) = (at / n_in, at % n_in);
            for (matrix, number) in transformed.iter_mut().zip(transform_kernel(*kernel)) {
                matrix[in_idx * n_out + out_idx] = number;
            }
        }
        let kernels =
            transformed.iter().map(|numbers| PackedMatrix::from_columns(n_in, n_out, numbers)).collect();
        Self { n_in, n_out, kernels, bias: bias.to_vec() }
    }

    /// Convolves a batch.
    pub fn run(&self, input: &Activations, outputs: Outputs, memory: &BandMemory) {
        assert_eq!(input.n_channels, self.n_in, "channels of a convolution's input");
        let bands = bands(input.n_images, input.tiles_across(), rayon::current_num_threads());
        let Outputs { mut full, mut pooled } = outputs;
        let full = self.parts(input, &bands, &mut full, TILE_SIDE);
        let pooled = self.parts(input, &bands, &mut pooled, TILE_SIDE / 2);
        bands.par_iter().zip(full).zip(pooled).for_each(|((&band, full), pooled)| {
            memory.with(|buffers| self.run_band(input, band, buffers, full, pooled));
        });
    }

    /// Shapes an output, if it is wanted, and cuts it up for the bands.
    fn parts<'a>(
        &self,
        input: &Activations,
        bands: &[Band],
        output: &'a mut Option<&mut Activations>,
        px_per_tile: usize,
    ) -> Vec<Option<BandOutput<'a>>> {
        match output {
            None => bands.iter().map(|_| None).collect(),
            Some(output) => {
                output.reshape(input.n_images, input.side_px * px_per_tile / TILE_SIDE, self.n_out);
                BandOutput::split(bands, output, px_per_tile).into_iter().map(Some).collect()
            }
        }
    }

    fn run_band(
        &self,
        input: &Activations,
        band: Band,
        buffers: &mut BandBuffers,
        full: Option<BandOutput>,
        pooled: Option<BandOutput>,
    ) {
        let n_tiles = band.n_tiles();
        let in_stream_len = n_tiles * self.n_in + STREAM_GAP;
        let out_stream_len = n_tiles * self.n_out + STREAM_GAP;
        let transformed = grown(&mut buffers.transformed, N_POINTS * in_stream_len);
        let products = grown(&mut buffers.products, N_POINTS * out_stream_len);

        on_best_instructions(InputTransform { input, band, transformed, stream_len: in_stream_len });
        let streams =
            transformed.par_chunks_exact(in_stream_len).zip(products.par_chunks_exact_mut(out_stream_len));
        streams.zip(&self.kernels).for_each(|((tiles, products), kernel)| {
            kernel.multiply(&tiles[..n_tiles * self.n_in], &mut products[..n_tiles * self.n_out]);
        });
        let bias = &self.bias;
        on_best_instructions(OutputTransform {
            band,
            products,
            stream_len: out_stream_len,
            bias,
            full,
            pooled,
        });
    }
}

fn grown(buffer: &mut Vec<f32>, len: usize) -> &mut [f32] {
    if buffer.len() < len {
        buffer.resize(len, 0.0);
    }
    &mut buffer[..len]
}

struct InputTransform<'a> {
    input: &'a Activations,
    band: Band,
    transformed: &'a mut [f32],
    stream_len: usize,
}

impl Work for InputTransform<'_> {
    #[inline(always)]
    fn run(self) {
        // Everything is counted in eights of channels from here on.
        let Self { input, band, transformed, stream_len } = self;
        let inputs = input.used().as_chunks::<N_LANES>().0;
        let transformed = transformed.as_chunks_mut::<N_LANES>().0;
        let (pixel_len, row_len) = (input.n_channels / N_LANES, input.row_len() / N_LANES);
        let (image_len, stream_len) = (input.image_len() / N_LANES, stream_len / N_LANES);
        for (tile_idx, (image, row, col)) in band.tiles().enumerate() {
            let corner = image * image_len + row * TILE_SIDE * row_len + col * TILE_SIDE * pixel_len;
            let patch: [&[Lanes]; PATCH_SIDE] =
                std::array::from_fn(|row| &inputs[corner + row * row_len..][..PATCH_SIDE * pixel_len]);
            for channels in 0..pixel_len {
                let out = &mut transformed[tile_idx * pixel_len + channels..];
                transform_input(
                    |row, col| patch[row][col * pixel_len + channels],
                    |point, lanes| out[point * stream_len] = lanes,
                );
            }
        }
    }
}

struct OutputTransform<'a> {
    band: Band,
    products: &'a [f32],
    stream_len: usize,
    bias: &'a [f32],
    full: Option<BandOutput<'a>>,
    pooled: Option<BandOutput<'a>>,
}

impl Work for OutputTransform<'_> {
    #[inline(always)]
    fn run(mut self) {
        let Self { band, products, stream_len, bias, .. } = self;
        let (bias, products) = (bias.as_chunks::<N_LANES>().0, products.as_chunks::<N_LANES>().0);
        let stream_len = stream_len / N_LANES;
        for (tile_idx, (image, tile_row, tile_col)) in band.tiles().enumerate() {
            for (channels, bias) in bias.iter().enumerate() {
                let products = &products[tile_idx * self.bias.len() / N_LANES + channels..];
                let tile = transform_output(|point| products[point * stream_len])
                    .map(|row| row.map(|x| std::array::from_fn(|lane| (x[lane] + bias[lane]).max(0.0))));
                if let Some(full) = &mut self.full {
                    full.write(Square {
                        image,
                        top: tile_row * 4,
                        left: tile_col * 4,
                        channels,
                        lanes: &tile,
                    });
                }
                if let Some(pooled) = &mut self.pooled {
                    let lanes = &maxima(&tile);
                    pooled.write(Square { image, top: tile_row * 2, left: tile_col * 2, channels, lanes });
                }
            }
        }
    }
}

/// Maxima over 2 x 2.
#[inline(always)]
fn maxima(tile: &[[Lanes; 4]; 4]) -> [[Lanes; 2]; 2] {
    let max = |a: Lanes, b: Lanes| -> Lanes {
        std::array::from_fn(|lane| if a[lane] > b[lane] { a[lane] } else { b[lane] })
    };
    std::array::from_fn(|row| {
        std::array::from_fn(|col| {
            let [above, below] = [&tile[2 * row], &tile[2 * row + 1]];
            max(max(above[2 * col], above[2 * col + 1]), max(below[2 * col], below[2 * col + 1]))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::convolution::naive::{check_close, convolve_3x3, noise, noise_batch, pool_2x2};

    #[track_caller]
    fn check(n_images: usize, side_px: usize, n_in: usize, n_out: usize) {
        let input = noise_batch(n_images, side_px, n_in);
        let (kernel, bias) = (noise(n_out * n_in * 9, 2), noise(n_out, 3));
        let convolution = WinogradConvolution::new(n_in, n_out, &kernel, &bias);
        let (mut full, mut pooled) = (noise_batch(1, 8, 8), noise_batch(1, 8, 8));
        let outputs = Outputs { full: Some(&mut full), pooled: Some(&mut pooled) };
        convolution.run(&input, outputs, &BandMemory::default());

        // Sums of 9 n_in products of numbers up to 1; Winograd's transforms lose about two digits of seven.
        let expected = convolve_3x3(&input, &kernel, &bias);
        let tolerance = 1e-5 * (n_in as f32).sqrt() * 3.0;
        check_close(&full, &expected, tolerance);
        check_close(&pooled, &pool_2x2(&expected, side_px, n_out), tolerance);
        assert!(full.used().iter().all(|x| *x >= 0.0), "ReLU, and borders of 0");
        let outside = full.used().iter().filter(|x| **x == 0.0).count();
        let n_border = full.used().len() - expected.len();
        assert!(outside >= n_border, "borders stay 0, or the next convolution reads them");
    }

    #[test]
    fn a_convolution_is_the_sum_it_stands_for() {
        check(1, 4, 8, 8);
        check(2, 14, 16, 24);
        check(3, 28, 8, 16);
        check(1, 56, 8, 8);
        check(9, 14, 8, 8);
    }
}
