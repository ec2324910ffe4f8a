//! The first convolution of a network, on three channels: too few for Winograd's algorithm.

use crate::convolution::activations::Activations;
use crate::matrix_product::PackedMatrix;
use rayon::prelude::*;

const N_COLOURS: usize = 3;
/// Numbers of a 3 x 3 patch.
const PATCH_LEN: usize = 9 * N_COLOURS;

/// A 3 x 3 convolution of RGB, stride 1, padding 1, then bias and ReLU: one matrix product a row of the image.
pub(crate) struct StemConvolution {
    n_out: usize,
    /// `[row, column, colour]` of the patch, by output.
    kernel: PackedMatrix,
    bias: Vec<f32>,
}

impl StemConvolution {
    /// `kernel` is `[n_out, 3, 3, 3]`: output, colour, row, column.
    pub fn new(n_out: usize, kernel: &[f32], bias: &[f32]) -> Self {
        assert_eq!(
            (kernel.len(), bias.len()),
            (n_out * PATCH_LEN, n_out),
            "numbers of a 3x3 convolution of RGB"
        );
        let kernel_by_patch = PackedMatrix::from_fn(PATCH_LEN, n_out, |at, out_idx| {
            let (pixel, colour) = (at / N_COLOURS, at % N_COLOURS);
            kernel[out_idx * PATCH_LEN + colour * 9 + pixel]
        });
        Self { n_out, kernel: kernel_by_patch, bias: bias.to_vec() }
    }

    /// Convolves a batch of three channels; `output` takes the right shape.
    pub fn run(&self, input: &Activations, output: &mut Activations) {
        assert_eq!(input.n_channels, N_COLOURS, "channels of an RGB image");
        let side_px = input.side_px;
        output.reshape(input.n_images, side_px, self.n_out);
        let (in_row_len, rows_per_image) = (input.row_len(), input.image_len() / input.row_len());
        let out_row_len = output.row_len();
        output.used_mut().par_chunks_exact_mut(out_row_len).enumerate().for_each_init(
            || vec![0.0; side_px * PATCH_LEN],
            |patches, (padded_row, out_row)| {
                let (image, row) = (padded_row / rows_per_image, padded_row % rows_per_image);
                if row == 0 || row > side_px {
                    return;
                }
                let above =
                    &input.used()[image * input.image_len() + (row - 1) * in_row_len..][..3 * in_row_len];
                for (col, patch) in patches.chunks_exact_mut(PATCH_LEN).enumerate() {
                    for (patch_row, line) in patch.chunks_exact_mut(PATCH_LEN / 3).enumerate() {
                        line.copy_from_slice(
                            &above[patch_row * in_row_len + col * N_COLOURS..][..PATCH_LEN / 3],
                        );
                    }
                }
                let inside = &mut out_row[self.n_out..(side_px + 1) * self.n_out];
                self.kernel.multiply_add(patches, &self.bias, inside);
                inside.iter_mut().for_each(|x| *x = x.max(0.0));
            },
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::convolution::naive::{check_close, convolve_3x3, noise, noise_batch};

    #[test]
    fn a_convolution_of_rgb_is_the_sum_it_stands_for() {
        let (kernel, bias) = (noise(16 * PATCH_LEN, 2), noise(16, 3));
        for (n_images, side_px) in [(1, 4), (2, 10), (3, 16)] {
            let input = noise_batch(n_images, side_px, N_COLOURS);
            let mut output = noise_batch(1, 8, 8);
            StemConvolution::new(16, &kernel, &bias).run(&input, &mut output);
            check_close(&output, &convolve_3x3(&input, &kernel, &bias), 1e-5);
        }
    }
}
