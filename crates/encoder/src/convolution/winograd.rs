//! A 3 x 3 convolution with bias and ReLU, by Winograd's algorithm: transforms by hand around 36 matrix products.
//!
//! Direct convolution is at nine tenths of a core's peak in good libraries, so only fewer multiplications help; these
//! are a quarter. Work is cut into bands of about a hundred tiles whose transforms stay in the cache. Every number
//! is summed in the same order whatever the batch, the bands and the number of threads.

use crate::convolution::activations::{Activations, TILE_SIDE};
use crate::convolution::band::{Band, BandOutput, bands};
use crate::convolution::winograd_tile::{
    Lanes, N_LANES, N_POINTS, transform_input, transform_kernel, transform_output,
};
use crate::instructions::{Work, on_best_instructions};
use crate::matrix_product::PackedMatrix;
use rayon::prelude::*;
use std::sync::{Mutex, PoisonError};

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

/// Memory of bands under way, kept between calls.
#[derive(Default)]
pub(crate) struct BandMemory(Mutex<Vec<BandBuffers>>);

#[derive(Default)]
struct BandBuffers {
    /// `[36 points, n_tiles, n_in]`, with gaps.
    transformed: Vec<f32>,
    /// `[36 points, n_tiles, n_out]`, with gaps.
    products: Vec<f32>,
}

impl BandMemory {
    fn borrow<R>(&self, work: impl FnOnce(&mut BandBuffers) -> R) -> R {
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = lock().pop();
        let mut buffers = taken.unwrap_or_default();
        let result = work(&mut buffers);
        lock().push(buffers);
        result
    }
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
            memory.borrow(|buffers| self.run_band(input, band, buffers, full, pooled));
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
        let Self { input, band, transformed, stream_len } = self;
        let (n_channels, row_len) = (input.n_channels, input.row_len());
        for (tile_idx, (image, row, col)) in band.tiles().enumerate() {
            let corner = image * input.image_len() + row * TILE_SIDE * row_len + col * TILE_SIDE * n_channels;
            let patch = &input.used()[corner..];
            for channel in (0..n_channels).step_by(N_LANES) {
                transform_input(
                    |row, col| lanes_at(patch, row * row_len + col * n_channels + channel),
                    |point, lanes| {
                        let at = point * stream_len + tile_idx * n_channels + channel;
                        transformed[at..at + N_LANES].copy_from_slice(&lanes);
                    },
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
        let n_channels = bias.len();
        for (tile_idx, (image, tile_row, tile_col)) in band.tiles().enumerate() {
            for channel in (0..n_channels).step_by(N_LANES) {
                let bias = lanes_at(bias, channel);
                let at = tile_idx * n_channels + channel;
                let tile = transform_output(|point| lanes_at(products, point * stream_len + at))
                    .map(|row| row.map(|x| std::array::from_fn(|lane| (x[lane] + bias[lane]).max(0.0))));
                if let Some(full) = &mut self.full {
                    write_square(full, image, tile_row * 4, tile_col * 4, channel, &tile);
                }
                if let Some(pooled) = &mut self.pooled {
                    write_square(pooled, image, tile_row * 2, tile_col * 2, channel, &maxima(&tile));
                }
            }
        }
    }
}

#[inline(always)]
fn lanes_at(numbers: &[f32], at: usize) -> Lanes {
    let mut lanes = [0.0; N_LANES];
    lanes.copy_from_slice(&numbers[at..at + N_LANES]);
    lanes
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

#[inline(always)]
fn write_square<const SIDE: usize>(
    output: &mut BandOutput,
    image: usize,
    top: usize,
    left: usize,
    channel: usize,
    square: &[[Lanes; SIDE]; SIDE],
) {
    for (row, line) in square.iter().enumerate() {
        for (col, lanes) in line.iter().enumerate() {
            if let Some(pixel) = output.pixel_mut(image, top + row, left + col, channel) {
                pixel.copy_from_slice(lanes);
            }
        }
    }
}
