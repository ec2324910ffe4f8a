//! Reads VGG-16's weights from the package's checkpoint, which has other names and another order of axes.

use crate::vgg16::weights::{ConvolutionPlace, ConvolutionWeights, VGG16_CONVOLUTIONS, Vgg16Weights};

/// Offsets of each convolution's kernel, `[3, 3, n_in, n_out]`, and bias, `[n_out]`, as little-endian f32.
///
/// The checkpoint is a pickle, but its hash is known, so the offsets of its arrays are, too: no unpickling is needed.
const ARRAY_OFFSETS: [(usize, usize); VGG16_CONVOLUTIONS.len()] = [
    (208, 7_170),
    (7_492, 154_989),
    (155_311, 450_264),
    (450_842, 1_040_707),
    (1_041_286, 2_220_976),
    (2_222_068, 4_581_406),
    (4_582_498, 6_941_836),
    (6_942_928, 11_661_562),
    (11_663_678, 21_100_904),
    (21_103_020, 30_540_246),
    (30_542_363, 39_979_589),
    (39_981_706, 49_418_932),
    (49_421_049, 58_858_275),
];

/// The weights in the checkpoint whose hash [`super::archive::checkpoint_of`] has verified.
pub(super) fn read(checkpoint: &[u8]) -> Vgg16Weights {
    let convolutions = ARRAY_OFFSETS.iter().zip(VGG16_CONVOLUTIONS);
    let convolutions = convolutions.map(|(&(kernel, bias), ConvolutionPlace { n_in, n_out, .. })| {
        let kernel = floats(&checkpoint[kernel..], 9 * n_in * n_out);
        let bias = floats(&checkpoint[bias..], n_out);
        ConvolutionWeights { n_in, n_out, kernel: out_first(&kernel, n_in, n_out), bias }
    });
    Vgg16Weights::new(convolutions.collect(), None)
}

fn floats(bytes: &[u8], n: usize) -> Vec<f32> {
    bytes.as_chunks::<4>().0[..n].iter().map(|&bytes| f32::from_le_bytes(bytes)).collect()
}

/// `[3, 3, n_in, n_out]` to `[n_out, n_in, 3, 3]`.
fn out_first(kernel: &[f32], n_in: usize, n_out: usize) -> Vec<f32> {
    let mut transposed = Vec::with_capacity(kernel.len());
    for out in 0..n_out {
        for channel in 0..n_in {
            transposed.extend((0..9).map(|tap| kernel[(tap * n_in + channel) * n_out + out]));
        }
    }
    transposed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_are_transposed() {
        // Each value encodes its place: tap, channel in, channel out.
        let kernel: Vec<f32> = (0..9)
            .flat_map(|tap| (0..2).flat_map(move |i| (0..3).map(move |o| (tap * 100 + i * 10 + o) as f32)))
            .collect();
        let transposed = out_first(&kernel, 2, 3);
        assert_eq!(transposed[..3], [0.0, 100.0, 200.0]);
        assert_eq!(transposed[9], 10.0);
        assert_eq!(transposed[2 * 18 + 9 + 8], 812.0);
    }

    #[test]
    fn arrays_do_not_overlap() {
        let mut end = 0;
        for ((kernel, bias), ConvolutionPlace { n_in, n_out, .. }) in
            ARRAY_OFFSETS.into_iter().zip(VGG16_CONVOLUTIONS)
        {
            assert!(end < kernel && kernel + 4 * 9 * n_in * n_out < bias);
            end = bias + 4 * n_out;
        }
    }
}
