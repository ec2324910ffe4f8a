//! What every encoder is to the rest of the walk.

use touchstream_env::screen::Screen;
use touchstream_env::stimuli::ContentHash;

/// Rows and columns of a spatial map.
pub const MAP_SIDE: usize = 14;

/// A fixed visual backbone. Equal screens give equal bits, whatever stands beside them in a batch and however many
/// threads work.
pub trait Encoder: Send + Sync {
    /// The word a user asks for it by: `vgg16`, `compact`, `onnx:FILE`.
    fn name(&self) -> &str;

    /// A hash of everything that decides features: weights and settings. Part of every result.
    fn content_hash(&self) -> ContentHash;

    /// How many numbers a screen becomes.
    fn shape(&self) -> FeatureShape;

    /// How many screens at once are encoded fastest.
    fn batch_size(&self) -> usize {
        8
    }

    /// Encodes screens, `out[i]` from `screens[i]`; both have the same length. Works on the threads of the rayon
    /// pool it is called from.
    fn encode(&self, screens: &[Screen], out: &mut [Features]) -> Result<(), EncodeError>;
}

/// How many numbers a screen becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeatureShape {
    /// Length of the scene vector.
    pub scene_len: usize,
    /// Channels of the spatial map.
    pub map_channels: usize,
}

impl FeatureShape {
    /// Numbers in a spatial map.
    pub fn map_len(self) -> usize {
        MAP_SIDE * MAP_SIDE * self.map_channels
    }
}

/// What an encoder makes of one screen.
#[derive(Clone, Debug, PartialEq)]
pub struct Features {
    /// The scene vector, `[scene_len]`: what is where, neither centred nor scaled.
    pub scene: Box<[f32]>,
    /// The spatial map, `[14 rows, 14 columns, map_channels]`.
    pub map: Box<[f32]>,
}

impl Features {
    /// Zeros, to be encoded into.
    pub fn zeros(shape: FeatureShape) -> Self {
        Self { scene: vec![0.0; shape.scene_len].into(), map: vec![0.0; shape.map_len()].into() }
    }
}

/// A screen that could not be encoded.
#[derive(Debug, thiserror::Error)]
#[error("encoder `{encoder}`: {reason}")]
pub struct EncodeError {
    /// Which encoder.
    pub encoder: String,
    /// What went wrong, as a sentence without a full stop.
    pub reason: String,
}
