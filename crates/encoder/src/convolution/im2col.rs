//! Convolutions as matrix products: patches of the input times the weights.

use crate::matrix_product::PackedMatrix;

/// Number of floats of patches that are made at a time: half of a core's L2 cache, so that they are still cached when
/// they are multiplied.
const PATCHES_LEN: usize = 64 * 1024;

/// Sizes of a convolution over square images, padded so that only the stride reduces the size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConvolutionShape {
    /// 1, or 3 with a zero padding of one pixel.
    pub kernel_side: usize,
    /// 1 or 2.
    pub stride: usize,
    pub n_in: usize,
    pub n_out: usize,
}

impl ConvolutionShape {
    /// Inputs of one output pixel.
    pub fn patch_len(self) -> usize {
        self.kernel_side * self.kernel_side * self.n_in
    }

    /// Rows, and columns, of the output.
    pub fn side_out(self, side_in: usize) -> usize {
        side_in.div_ceil(self.stride)
    }
}

/// How the result of a convolution is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Onto {
    /// Overwrites the output.
    Fresh,
    /// Is added to the output.
    Sum,
}

pub struct Convolution {
    shape: ConvolutionShape,
    weights: PackedMatrix,
    bias: Box<[f32]>,
}

impl Convolution {
    /// `weights` is `[kernel_side, kernel_side, n_in, n_out]`, `bias` is `[n_out]`. Panics at other lengths.
    pub fn new(shape: ConvolutionShape, weights: &[f32], bias: &[f32]) -> Self {
        assert_eq!(bias.len(), shape.n_out, "length of the bias of {shape:?}");
        let weights = PackedMatrix::from_columns(shape.patch_len(), shape.n_out, weights);
        Self { shape, weights, bias: bias.into() }
    }

    /// `x` is `[side_in, side_in, n_in]`, `out` is `[side_out, side_out, n_out]`. `patches` is a work buffer, which
    /// only grows at the first call.
    pub fn forward(&self, x: &[f32], side_in: usize, patches: &mut Vec<f32>, onto: Onto, out: &mut [f32]) {
        let side_out = self.shape.side_out(side_in);
        assert_eq!(x.len(), side_in * side_in * self.shape.n_in, "input of {:?}", self.shape);
        assert_eq!(out.len(), side_out * side_out * self.shape.n_out, "output of {:?}", self.shape);
        if self.shape.kernel_side == 1 && self.shape.stride == 1 {
            return self.multiply(x, onto, out);
        }
        let patch_row_len = side_out * self.shape.patch_len();
        let rows_at_a_time = (PATCHES_LEN / patch_row_len).clamp(1, side_out);
        if patches.len() < rows_at_a_time * patch_row_len {
            patches.resize(rows_at_a_time * patch_row_len, 0.0);
        }
        for (idx, out) in out.chunks_mut(rows_at_a_time * side_out * self.shape.n_out).enumerate() {
            let first_row = idx * rows_at_a_time;
            let n_rows = rows_at_a_time.min(side_out - first_row);
            let patches = &mut patches[..n_rows * patch_row_len];
            for (row, row_patches) in (first_row..).zip(patches.chunks_exact_mut(patch_row_len)) {
                self.shape.fill_patch_row(x, side_in, row, row_patches);
            }
            self.multiply(patches, onto, out);
        }
    }

    /// `out` `[n, n_out]` from patches `[n, patch_len]`.
    fn multiply(&self, patches: &[f32], onto: Onto, out: &mut [f32]) {
        match onto {
            Onto::Fresh => self.weights.multiply_add(patches, &self.bias, out),
            Onto::Sum => self.weights.multiply_onto(patches, &self.bias, out),
        }
    }
}

impl ConvolutionShape {
    /// Copies the inputs of one row of output pixels: `[side_out, kernel_side, kernel_side, n_in]`.
    fn fill_patch_row(self, x: &[f32], side_in: usize, row_out: usize, patches: &mut [f32]) {
        let Self { kernel_side, stride, n_in, .. } = self;
        let border = kernel_side / 2;
        let line_len = kernel_side * n_in;
        let row_len = side_in * n_in;
        for line in 0..kernel_side {
            let Some(row_in) = (row_out * stride + line).checked_sub(border).filter(|&row| row < side_in)
            else {
                for patch in patches.chunks_exact_mut(self.patch_len()) {
                    patch[line * line_len..][..line_len].fill(0.0);
                }
                continue;
            };
            let row = &x[row_in * row_len..][..row_len];
            for (col_out, patch) in patches.chunks_exact_mut(self.patch_len()).enumerate() {
                let line = &mut patch[line * line_len..][..line_len];
                // The part of the line that is inside the row, relative to a row with padding in front.
                let start = col_out * stride * n_in;
                let n_before = (border * n_in).saturating_sub(start);
                let from = (start + n_before) - border * n_in;
                let n_inside = (line_len - n_before).min(row_len - from);
                line[..n_before].fill(0.0);
                line[n_before..][..n_inside].copy_from_slice(&row[from..][..n_inside]);
                line[n_before + n_inside..].fill(0.0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// One output pixel at a time, as the sum that defines a convolution.
    fn naive(shape: ConvolutionShape, x: &[f32], side: usize, weights: &[f32], bias: &[f32]) -> Vec<f32> {
        let ConvolutionShape { kernel_side, stride, n_in, n_out } = shape;
        let border = kernel_side / 2;
        let side_out = shape.side_out(side);
        let mut out = Vec::new();
        for (row, col) in (0..side_out * side_out).map(|at| (at / side_out, at % side_out)) {
            for (channel_out, &bias) in bias.iter().enumerate() {
                let mut sum = f64::from(bias);
                for (dy, dx) in (0..kernel_side * kernel_side).map(|at| (at / kernel_side, at % kernel_side))
                {
                    let (y, x_at) = (row * stride + dy, col * stride + dx);
                    let inside = |at: usize| (border..side + border).contains(&at);
                    if !(inside(y) && inside(x_at)) {
                        continue;
                    }
                    for channel_in in 0..n_in {
                        let from = ((y - border) * side + x_at - border) * n_in + channel_in;
                        let weight = ((dy * kernel_side + dx) * n_in + channel_in) * n_out + channel_out;
                        sum += f64::from(x[from]) * f64::from(weights[weight]);
                    }
                }
                out.push(sum as f32);
            }
        }
        out
    }

    fn numbers(len: usize, seed: u32) -> Vec<f32> {
        let mut state = seed | 1;
        std::iter::repeat_with(|| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / (1 << 23) as f32 - 1.0
        })
        .take(len)
        .collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn equals_the_sum_that_defines_it(
            kernel_side in prop_oneof![Just(1_usize), Just(3)],
            stride in 1_usize..3,
            n_in in 1_usize..40,
            n_out in 1_usize..40,
            side in 1_usize..18,
            seed in any::<u32>(),
            onto in prop_oneof![Just(Onto::Fresh), Just(Onto::Sum)],
        ) {
            let shape = ConvolutionShape { kernel_side, stride, n_in, n_out };
            let x = numbers(side * side * n_in, seed);
            let weights = numbers(shape.patch_len() * n_out, seed ^ 7);
            let bias = numbers(n_out, seed ^ 99);
            let convolution = Convolution::new(shape, &weights, &bias);
            let expected = naive(shape, &x, side, &weights, &bias);
            let before = numbers(expected.len(), seed ^ 1234);
            let mut out = before.clone();
            // Old contents of the work buffer must not affect the result.
            let mut patches = vec![f32::NAN; 100_000];
            convolution.forward(&x, side, &mut patches, onto, &mut out);
            for ((&found, &expected), &before) in out.iter().zip(&expected).zip(&before) {
                let expected = if onto == Onto::Sum { expected + before } else { expected };
                prop_assert!((found - expected).abs() < 1e-4, "{found} against {expected}");
            }
        }
    }

    #[test]
    fn many_rows_are_processed_in_parts() {
        let shape = ConvolutionShape { kernel_side: 3, stride: 2, n_in: 16, n_out: 8 };
        let side = 112;
        assert!(56 * 56 * shape.patch_len() > 3 * PATCHES_LEN);
        let x = numbers(side * side * 16, 1);
        let (weights, bias) = (numbers(shape.patch_len() * 8, 2), numbers(8, 3));
        let mut out = vec![0.0; 56 * 56 * 8];
        let convolution = Convolution::new(shape, &weights, &bias);
        convolution.forward(&x, side, &mut Vec::new(), Onto::Fresh, &mut out);
        let expected = naive(shape, &x, side, &weights, &bias);
        assert!(out.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-4));
    }
}
