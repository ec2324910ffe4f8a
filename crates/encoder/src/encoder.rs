//! The interface of all encoders.

use touchstream_env::screen::Screen;
use touchstream_env::stimuli::ContentHash;

/// Rows and columns of a spatial map.
pub const MAP_SIDE: usize = 14;

/// A fixed visual backbone. A screen's features have the same bits for any batch and any number of threads.
pub trait Encoder: Send + Sync {
    /// The encoder as written on the command line: `vgg16`, `compact`, `onnx:FILE`.
    fn name(&self) -> &str;

    /// A hash of everything that determines features, such as weights and settings; recorded with every result.
    fn content_hash(&self) -> ContentHash;

    fn shape(&self) -> FeatureShape;

    /// The batch size at which encoding is fastest.
    fn batch_size(&self) -> usize {
        8
    }

    /// Encodes `screens[i]` into `out[i]`; both slices have the same length. Uses the current rayon thread pool.
    fn encode(&self, screens: &[Screen], out: &mut [Features]) -> Result<(), EncodeError>;
}

/// The sizes of a screen's features.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeatureShape {
    pub scene_len: usize,
    pub map_channels: usize,
}

impl FeatureShape {
    /// Number of elements of a spatial map.
    pub fn map_len(self) -> usize {
        MAP_SIDE * MAP_SIDE * self.map_channels
    }
}

/// The features of one screen.
#[derive(Clone, Debug, PartialEq)]
pub struct Features {
    /// The scene vector, `[scene_len]`, not centred or scaled.
    pub scene: Box<[f32]>,
    /// The spatial map, `[14 rows, 14 columns, map_channels]`.
    pub map: Box<[f32]>,
}

impl Features {
    /// Zeros, to be overwritten by [`Encoder::encode`].
    pub fn zeros(shape: FeatureShape) -> Self {
        Self { scene: vec![0.0; shape.scene_len].into(), map: vec![0.0; shape.map_len()].into() }
    }
}

/// Why a screen could not be encoded.
#[derive(Debug, thiserror::Error)]
#[error("encoder `{encoder}`: {reason}")]
pub struct EncodeError {
    pub encoder: String,
    /// Without a full stop.
    pub reason: String,
}
