//! Compact as an encoder: encodes screens in parallel, with work buffers that are reused between batches.

use crate::buffer_pool::BufferPool;
use crate::compact::network::{MAP_CHANNELS, Network, SCENE_LEN, Scratch};
use crate::compact::weights::Weights;
use crate::encoder::{EncodeError, Encoder, FeatureShape, Features};
use rayon::prelude::*;
use touchstream_env::screen::Screen;
use touchstream_env::stimuli::ContentHash;

static WEIGHTS: &[u8] = include_bytes!("../../weights/compact.safetensors");
const NAME: &str = "compact";

/// The built-in encoder; `docs/compact.md` describes its training and accuracy.
pub struct Compact {
    network: Network,
    hash: ContentHash,
    scratches: BufferPool<Scratch>,
}

impl Compact {
    /// With the built-in weights.
    pub fn built_in() -> Self {
        Self::from_bytes(WEIGHTS)
    }

    fn from_bytes(bytes: &[u8]) -> Self {
        let weights = Weights::open(bytes);
        let scratches = BufferPool::default();
        Self { network: Network::new(&weights), hash: weights.content_hash(), scratches }
    }

    fn encode_one(&self, screen: &Screen, features: &mut Features) {
        self.scratches.with(|scratch| self.network.forward(screen, scratch, features));
    }
}

impl Encoder for Compact {
    fn name(&self) -> &str {
        NAME
    }

    fn content_hash(&self) -> ContentHash {
        self.hash
    }

    fn shape(&self) -> FeatureShape {
        FeatureShape { scene_len: SCENE_LEN, map_channels: MAP_CHANNELS }
    }

    fn encode(&self, screens: &[Screen], out: &mut [Features]) -> Result<(), EncodeError> {
        assert_eq!(screens.len(), out.len(), "one `Features` per screen");
        // Each screen is encoded separately, so its bits do not depend on the others.
        screens.par_iter().zip(out).for_each(|(screen, features)| self.encode_one(screen, features));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_weights_fit_and_are_small() {
        assert!(WEIGHTS.len() <= 8_000_000, "{} bytes", WEIGHTS.len());
        let encoder = Compact::built_in();
        assert_eq!(encoder.shape().map_len(), 14 * 14 * 128);
        let other = Compact::from_bytes(&changed(WEIGHTS));
        assert_ne!(encoder.content_hash(), other.content_hash());
    }

    /// The same file with another last bit in the last value.
    fn changed(bytes: &[u8]) -> Vec<u8> {
        let mut bytes = bytes.to_vec();
        let last = bytes.len() - 4;
        bytes[last] ^= 1;
        bytes
    }
}
