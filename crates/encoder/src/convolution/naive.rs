//! Straightforward convolutions, to test the fast ones.

use crate::convolution::activations::Activations;

/// A 3 x 3 convolution, stride 1, padding 1, bias, ReLU: `[n, side, side, n_out]` without borders. `kernel` is
/// `[n_out, n_in, 3, 3]`.
pub(super) fn convolve_3x3(input: &Activations, kernel: &[f32], bias: &[f32]) -> Vec<f32> {
    let (side, n_in) = (input.side_px, input.n_channels);
    let images: Vec<Vec<f32>> =
        (0..input.n_images).map(|i| input.rows(i).flatten().copied().collect()).collect();
    let mut out = Vec::new();
    for image in &images {
        for (row, col) in (0..side * side).map(|at| (at / side, at % side)) {
            for (kernel, bias) in kernel.chunks_exact(n_in * 9).zip(bias) {
                let mut sum = f64::from(*bias);
                for (at, weight) in kernel.iter().enumerate() {
                    let (channel, patch_row, patch_col) = (at / 9, at % 9 / 3, at % 3);
                    let (y, x) = ((row + patch_row).wrapping_sub(1), (col + patch_col).wrapping_sub(1));
                    if y < side && x < side {
                        sum += f64::from(*weight) * f64::from(image[(y * side + x) * n_in + channel]);
                    }
                }
                out.push(sum.max(0.0) as f32);
            }
        }
    }
    out
}

/// Maxima over 2 x 2 of `[n, side, side, n_channels]`.
pub(super) fn pool_2x2(activations: &[f32], side: usize, n_channels: usize) -> Vec<f32> {
    let mut out = Vec::new();
    for image in activations.chunks_exact(side * side * n_channels) {
        let half = side / 2;
        for (row, col) in (0..half * half).map(|at| (at / half, at % half)) {
            for channel in 0..n_channels {
                let at =
                    |y: usize, x: usize| image[((2 * row + y) * side + 2 * col + x) * n_channels + channel];
                out.push(at(0, 0).max(at(0, 1)).max(at(1, 0)).max(at(1, 1)));
            }
        }
    }
    out
}

/// A batch of pseudo-random values in `[-1, 1]`.
pub(super) fn noise_batch(n_images: usize, side_px: usize, n_channels: usize) -> Activations {
    // The memory has been used before, so that missing zero padding is noticed.
    let mut batch = Activations::default();
    batch.floats.grown(3_000_000).fill(9.0);
    batch.reshape(n_images, side_px, n_channels);
    let (row_len, image_len) = (batch.row_len(), batch.image_len());
    let values = noise(n_images * side_px * side_px * n_channels, 1);
    let inside_len = side_px * n_channels;
    for (row_idx, row) in values.chunks_exact(inside_len).enumerate() {
        let start = row_idx / side_px * image_len + (row_idx % side_px + 1) * row_len + n_channels;
        batch.used_mut()[start..start + inside_len].copy_from_slice(row);
    }
    batch
}

/// Pseudo-random values in `[-1, 1]`.
pub(super) fn noise(n: usize, seed: u32) -> Vec<f32> {
    let scrambled =
        |i: usize| (i as u32).wrapping_add(seed.wrapping_mul(977)).wrapping_mul(2_654_435_761) >> 8;
    (0..n).map(|i| scrambled(i) as f32 / (1 << 23) as f32 - 1.0).collect()
}

/// Checks that every value is within `tolerance`.
#[track_caller]
pub(super) fn check_close(batch: &Activations, expected: &[f32], tolerance: f32) {
    let values = (0..batch.n_images).flat_map(|image| batch.rows(image)).flatten();
    let worst = values.zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert_eq!(batch.n_images * batch.side_px * batch.side_px * batch.n_channels, expected.len());
    assert!(worst <= tolerance, "off by {worst}");
}
