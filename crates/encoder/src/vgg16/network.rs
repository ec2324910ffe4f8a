//! VGG-16 from pixels to conv5_3, pool5 and FC6 (Simonyan and Zisserman, configuration D).

use crate::buffer_pool::BufferPool;
use crate::convolution::{Activations, BandMemory, Outputs, StemConvolution, WinogradConvolution};
use crate::encoder::{EncodeError, Encoder, FeatureShape, Features};
use crate::image_input::InputTable;
use crate::vgg16::fc6::Fc6;
use crate::vgg16::weights::{FC6_LEN, POOL5_LEN, VGG16_CONVOLUTIONS, Vgg16Weights};
use rayon::prelude::*;
use touchstream_env::screen::Screen;
use touchstream_env::stimuli::ContentHash;
use touchstream_env::touch::SCREEN_SIDE_PX;

/// Multiply-adds of the 13 convolutions of one screen, if computed directly: 15.3 billion.
pub const CONVOLUTION_MULTIPLY_ADDS: u64 = {
    let mut sum = 0;
    let mut layer = 0;
    let mut side_px = SCREEN_SIDE_PX;
    while layer < VGG16_CONVOLUTIONS.len() {
        let place = &VGG16_CONVOLUTIONS[layer];
        sum += (side_px * side_px * 9 * place.n_in * place.n_out) as u64;
        if matches!(layer, 1 | 3 | 6 | 9) {
            side_px /= 2;
        }
        layer += 1;
    }
    sum
};

/// The scene vector is FC6, the spatial map is conv5_3.
pub const VGG16_SHAPE: FeatureShape = FeatureShape { scene_len: FC6_LEN, map_channels: 512 };

/// Must be changed whenever the same weights would give other features.
const NETWORK_VERSION: &str = "vgg16/1";

/// Indices of the convolutions, with conv1_1 as 0, that are followed by 2 x 2 max pooling: the last of each block.
const POOLED: [usize; 5] = [1, 3, 6, 9, 12];

/// Number of convolutions up to pool3.
const N_EARLY: usize = 7;

/// VGG-16. The scene vector is FC6 after its ReLU, the spatial map is conv5_3 after its ReLU.
pub struct Vgg16 {
    input: InputTable,
    stem: StemConvolution,
    convolutions: Vec<WinogradConvolution>,
    fc6: Fc6,
    content_hash: ContentHash,
    memory: BandMemory,
    buffers: BufferPool<Buffers>,
}

/// Work buffers of one call, reused by the next.
#[derive(Default)]
struct Buffers {
    /// The input and the output of a layer; swapped after each layer.
    current: Activations,
    next: Activations,
    /// pool3 of the whole batch.
    middle: Activations,
    /// conv5_3 of the whole batch.
    last: Activations,
    /// `[n, 512, 7, 7]`
    pool5: Vec<f32>,
    /// `[n, 4096]`
    fc6: Vec<f32>,
}

impl Vgg16 {
    /// The network with the given weights; without a trained FC6, with the fixed random one.
    ///
    /// Departs from the paper: without trained weights, FC6 is `relu(P pool5)` with a seeded Gaussian `P` of standard
    /// deviation 1 / sqrt(25088), because no package registry has FC6's weights.
    pub fn new(weights: Vgg16Weights) -> Self {
        let content_hash = Self::hash_of(&weights);
        let Vgg16Weights { convolutions, fc6, .. } = weights;
        let first = &convolutions[0];
        let stem = StemConvolution::new(first.n_out, &first.kernel, &first.bias);
        let convolutions = convolutions[1..].par_iter();
        let convolutions =
            convolutions.map(|w| WinogradConvolution::new(w.n_in, w.n_out, &w.kernel, &w.bias));
        Self {
            input: InputTable::imagenet(),
            stem,
            convolutions: convolutions.collect(),
            fc6: fc6.map_or_else(Fc6::random, Fc6::trained),
            content_hash,
            memory: BandMemory::default(),
            buffers: BufferPool::default(),
        }
    }

    /// The content hash of the network with these weights.
    pub fn hash_of(weights: &Vgg16Weights) -> ContentHash {
        let fc6 = if weights.fc6.is_some() { "trained".to_owned() } else { Fc6::random_hash_text() };
        let text = format!("{NETWORK_VERSION} {} fc6 {fc6}", weights.content_hash);
        ContentHash(*blake3::hash(text.as_bytes()).as_bytes())
    }

    /// Only the convolutions: pool5 of each screen, `[n_screens, 512, 7, 7]`.
    pub fn pool5(&self, screens: &[Screen]) -> Vec<f32> {
        self.buffers.with(|buffers| {
            self.convolve(screens, buffers);
            buffers.pool5[..screens.len() * POOL5_LEN].to_vec()
        })
    }

    /// Computes conv5_3 into `last` and pool5 into `pool5`.
    fn convolve(&self, screens: &[Screen], buffers: &mut Buffers) {
        for (image, screen) in screens.iter().enumerate() {
            self.convolve_early(screen, buffers);
            buffers.middle.set_image(image, screens.len(), &buffers.current);
        }
        if screens.is_empty() {
            return;
        }
        self.convolve_late(buffers);
        flatten_channels_first(&buffers.current, &mut buffers.pool5);
    }

    /// Computes conv1_1 to pool3 of one screen into `current`. For a batch, these layers would not fit into the
    /// processor's cache: 13 MB per screen.
    fn convolve_early(&self, screen: &Screen, buffers: &mut Buffers) {
        let Buffers { current, next, .. } = buffers;
        self.input.write(std::slice::from_ref(screen), next);
        self.stem.run(next, current);
        for (layer, convolution) in (1..).zip(&self.convolutions[..N_EARLY - 1]) {
            let pooled = POOLED.contains(&layer);
            convolution.run(current, Outputs::only(pooled, next), &self.memory);
            std::mem::swap(current, next);
        }
    }

    /// Computes conv4_1 to pool5 of the batch in `middle` into `current`; images are small and weights are large here.
    fn convolve_late(&self, buffers: &mut Buffers) {
        let Buffers { current, next, middle, last, .. } = buffers;
        for (layer, convolution) in (N_EARLY..).zip(&self.convolutions[N_EARLY - 1..]) {
            let input = if layer == N_EARLY { &*middle } else { &*current };
            let outputs = if layer == self.convolutions.len() {
                Outputs { full: Some(&mut *last), pooled: Some(&mut *next) }
            } else {
                Outputs::only(POOLED.contains(&layer), next)
            };
            convolution.run(input, outputs, &self.memory);
            std::mem::swap(current, next);
        }
    }
}

/// `[n, side, side, channels]` to `[n, channels, side, side]`, the order of FC6's inputs.
fn flatten_channels_first(activations: &Activations, flat: &mut Vec<f32>) {
    let Activations { n_images, side_px, n_channels, .. } = *activations;
    flat.resize(n_images * n_channels * side_px * side_px, 0.0);
    for (image, flat) in flat.chunks_exact_mut(n_channels * side_px * side_px).enumerate() {
        let pixels = activations.rows(image).flat_map(|row| row.chunks_exact(n_channels));
        for (pixel_idx, pixel) in pixels.enumerate() {
            for (channel, &x) in pixel.iter().enumerate() {
                flat[channel * side_px * side_px + pixel_idx] = x;
            }
        }
    }
}

impl Encoder for Vgg16 {
    fn name(&self) -> &str {
        "vgg16"
    }

    fn content_hash(&self) -> ContentHash {
        self.content_hash
    }

    fn shape(&self) -> FeatureShape {
        VGG16_SHAPE
    }

    fn encode(&self, screens: &[Screen], out: &mut [Features]) -> Result<(), EncodeError> {
        assert_eq!(screens.len(), out.len(), "one `Features` per screen");
        self.buffers.with(|buffers| {
            self.convolve(screens, buffers);
            self.fc6.run(&buffers.pool5, &mut buffers.fc6);
            for (image, (features, scene)) in
                out.iter_mut().zip(buffers.fc6.chunks_exact(FC6_LEN)).enumerate()
            {
                features.scene.copy_from_slice(scene);
                let rows = features.map.chunks_exact_mut(features.map.len() / buffers.last.side_px);
                rows.zip(buffers.last.rows(image)).for_each(|(map, row)| map.copy_from_slice(row));
            }
        });
        Ok(())
    }
}
