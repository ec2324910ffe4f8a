//! The first convolution of a network, with three input channels: too few for Winograd's algorithm.

use crate::arithmetic::{AlignedFloats, F32x16, Instructions, Kernel, Lanes, N_LANES};
use crate::convolution::activations::{Activations, TILE_SIDE};
use rayon::prelude::*;

const N_COLOURS: usize = 3;
/// Floats in one line of a 3 x 3 patch.
const LINE_LEN: usize = 3 * N_COLOURS;
const PATCH_LEN: usize = 3 * LINE_LEN;
/// Pixels that are accumulated together. Rows of activations are padded to complete tiles.
const N_PIXELS: usize = TILE_SIDE;
/// Floats of a line that these pixels read.
const READ_LEN: usize = LINE_LEN + (N_PIXELS - 1) * N_COLOURS;

/// A direct 3 x 3 convolution of RGB, stride 1, padding 1, then bias and ReLU, accumulated in registers.
pub(crate) struct StemConvolution {
    n_out: usize,
    instructions: Instructions,
    /// `[panels of 16 outputs, row, column and colour of the patch, 16 outputs]`
    kernel: AlignedFloats,
    bias: AlignedFloats,
}

impl StemConvolution {
    /// `kernel` is `[n_out, 3, 3, 3]`: output, colour, row, column. `n_out` must be a multiple of 16.
    pub fn new(n_out: usize, kernel: &[f32], bias: &[f32]) -> Self {
        Self::on(Instructions::best(), n_out, kernel, bias)
    }

    fn on(instructions: Instructions, n_out: usize, kernel: &[f32], bias: &[f32]) -> Self {
        assert!(n_out.is_multiple_of(N_LANES), "{n_out} channels");
        assert_eq!(
            (kernel.len(), bias.len()),
            (n_out * PATCH_LEN, n_out),
            "weights of a 3x3 convolution of RGB"
        );
        let mut packed = AlignedFloats::zeros(kernel.len());
        for (at, &weight) in kernel.iter().enumerate() {
            let (out_idx, colour, pixel) = (at / PATCH_LEN, at % PATCH_LEN / 9, at % 9);
            let row = out_idx / N_LANES * PATCH_LEN + pixel * N_COLOURS + colour;
            packed.as_mut_slice()[row * N_LANES + out_idx % N_LANES] = weight;
        }
        Self { n_out, instructions, kernel: packed, bias: bias.into() }
    }

    /// Convolves a batch of three channels; reshapes `output`.
    pub fn run(&self, input: &Activations, output: &mut Activations) {
        assert_eq!(input.n_channels, N_COLOURS, "channels of an RGB image");
        let side_px = input.side_px;
        output.reshape(input.n_images, side_px, self.n_out);
        let (in_row_len, rows_per_image) = (input.row_len(), input.image_len() / input.row_len());
        let out_row_len = output.row_len();
        output.used_mut().par_chunks_exact_mut(out_row_len).enumerate().for_each(|(padded_row, out)| {
            let (image, row) = (padded_row / rows_per_image, padded_row % rows_per_image);
            if row == 0 || row > side_px {
                return;
            }
            let above = &input.used()[image * input.image_len() + (row - 1) * in_row_len..];
            let lines = [0, 1, 2].map(|line| &above[line * in_row_len..][..in_row_len]);
            let out = &mut out[self.n_out..(side_px + 1) * self.n_out];
            self.instructions.run(StemRow {
                lines,
                kernel: &self.kernel.as_slice()[..PATCH_LEN * self.n_out],
                bias: &self.bias.as_slice()[..self.n_out],
                out,
            });
        });
    }
}

struct StemRow<'a> {
    /// The row, the one above it and the one below, with padding.
    lines: [&'a [f32]; 3],
    kernel: &'a [f32],
    bias: &'a [f32],
    /// `[side_px, n_out]`
    out: &'a mut [f32],
}

impl Kernel for StemRow<'_> {
    #[inline(always)]
    fn run<F: F32x16>(self) {
        match F::HAS_32_REGISTERS {
            true => self.sum::<F, 4>(),
            false => self.sum::<F, 1>(),
        }
    }
}

impl StemRow<'_> {
    /// Accumulates four pixels and `PANELS` panels of sixteen outputs in registers.
    #[inline(always)]
    fn sum<F: F32x16, const PANELS: usize>(self) {
        let kernel = self.kernel.as_chunks::<N_LANES>().0.as_chunks::<PATCH_LEN>().0;
        let bias = self.bias.as_chunks::<N_LANES>().0;
        let n_panels = bias.len();
        let out = self.out.as_chunks_mut::<N_LANES>().0;
        for (block, out) in out.chunks_mut(N_PIXELS * n_panels).enumerate() {
            let first = block * N_PIXELS * N_COLOURS;
            let lines = self.lines.map(|line| line[first..].first_chunk::<READ_LEN>().expect("whole tiles"));
            for panel in (0..n_panels).step_by(PANELS) {
                let mut panels: [&[Lanes; PATCH_LEN]; PANELS] = [&kernel[panel]; PANELS];
                for (idx, weights) in panels.iter_mut().enumerate() {
                    // Missing panels are replaced by the last one; their sums are not stored.
                    *weights = &kernel[(panel + idx).min(n_panels - 1)];
                }
                let acc = patch_sums::<F, PANELS>(lines, panels);
                for (out, acc) in out.chunks_exact_mut(n_panels).zip(acc) {
                    for ((out, bias), sum) in out.iter_mut().zip(bias).skip(panel).zip(acc) {
                        sum.add(F::load(bias)).max(F::splat(0.0)).store(out);
                    }
                }
            }
        }
    }
}

/// The accumulators of neighbouring pixels, `[pixel][panel]`.
#[inline(always)]
fn patch_sums<F: F32x16, const PANELS: usize>(
    lines: [&[f32; READ_LEN]; 3],
    panels: [&[Lanes; PATCH_LEN]; PANELS],
) -> [[F; PANELS]; N_PIXELS] {
    let mut acc = [[F::splat(0.0); PANELS]; N_PIXELS];
    for line in 0..3 {
        for at in 0..LINE_LEN {
            let mut weights = [F::splat(0.0); PANELS];
            for (weights, panel) in weights.iter_mut().zip(panels) {
                *weights = F::load(&panel[line * LINE_LEN + at]);
            }
            for pixel in 0..N_PIXELS {
                let x = F::splat(lines[line][pixel * N_COLOURS + at]);
                for panel in 0..PANELS {
                    acc[pixel][panel] = x.mul_add(weights[panel], acc[pixel][panel]);
                }
            }
        }
    }
    acc
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::convolution::naive::{check_close, convolve_3x3, noise, noise_batch};

    #[test]
    fn an_rgb_convolution_equals_the_naive_one() {
        for n_out in [16, 64, 80] {
            let (kernel, bias) = (noise(n_out * PATCH_LEN, 2), noise(n_out, 3));
            for (n_images, side_px) in [(1, 4), (2, 10), (3, 16)] {
                let input = noise_batch(n_images, side_px, N_COLOURS);
                let expected = convolve_3x3(&input, &kernel, &bias);
                let mut results = Vec::new();
                for instructions in Instructions::all() {
                    let mut output = noise_batch(1, 8, 8);
                    StemConvolution::on(instructions, n_out, &kernel, &bias).run(&input, &mut output);
                    check_close(&output, &expected, 1e-5);
                    let inside = output.used().iter().filter(|x| **x != 0.0).count();
                    assert!(inside <= expected.len(), "borders stay 0, or the next convolution reads them");
                    results.push(output.used().to_vec());
                }
                // The first results are those of portable code, which may round products and sums separately.
                assert!(
                    results[1..].windows(2).all(|pair| pair[0] == pair[1]),
                    "other bits on other instructions"
                );
            }
        }
    }
}
