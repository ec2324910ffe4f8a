//! Compact as an encoder: encodes screens in parallel, with work buffers that are reused between batches.

use crate::buffer_pool::BufferPool;
use crate::compact::network::{MAP_CHANNELS, Network, SCENE_LEN, Scratch};
use crate::compact::weights::{Weights, WeightsError};
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
        Self::from_bytes(WEIGHTS).expect("the built-in weights fit the network")
    }

    fn from_bytes(bytes: &[u8]) -> Result<Self, WeightsError> {
        let weights = Weights::open(bytes)?;
        Ok(Self {
            network: Network::new(&weights)?,
            hash: weights.content_hash(),
            scratches: BufferPool::default(),
        })
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
    use crate::compact::weights::ARCHITECTURE;
    use safetensors::tensor::{Dtype, TensorView, serialize};
    use std::collections::HashMap;

    #[test]
    fn built_in_weights_fit_and_are_small() {
        assert!(WEIGHTS.len() <= 8_000_000, "{} bytes", WEIGHTS.len());
        let encoder = Compact::built_in();
        assert_eq!(encoder.shape().map_len(), 14 * 14 * 128);
        let other = Compact::from_bytes(&changed(WEIGHTS)).expect("one number more or less still fits");
        assert_ne!(encoder.content_hash(), other.content_hash());
    }

    /// The same file with another last bit in the last value.
    fn changed(bytes: &[u8]) -> Vec<u8> {
        let mut bytes = bytes.to_vec();
        let last = bytes.len() - 4;
        bytes[last] ^= 1;
        bytes
    }

    #[track_caller]
    fn check_refused(bytes: &[u8], expected: &str) {
        let error = Compact::from_bytes(bytes).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(error.contains(expected), "`{error}` does not say `{expected}`");
    }

    #[test]
    fn other_weights_are_rejected_by_name() {
        check_refused(&WEIGHTS[..WEIGHTS.len() - 1], "weights of compact: ");
        check_refused(b"", "weights of compact: ");
        let data = [0; 8];
        let tensors =
            || [("down1.weight", TensorView::new(Dtype::F32, vec![2], &data).expect("two numbers"))];
        let with_architecture = |word: &str| {
            let facts = HashMap::from([("architecture".to_owned(), word.to_owned())]);
            serialize(tensors(), Some(facts)).expect("a small file")
        };
        check_refused(&with_architecture("vgg16"), "architecture is `vgg16`, expected `compact-1`");
        check_refused(
            &with_architecture(ARCHITECTURE),
            "tensor `down1.weight` is F32 [2], expected F32 [3, 3, 3, 16]",
        );
        let empty: [(&str, TensorView<'_>); 0] = [];
        check_refused(&serialize(empty, None).expect("an empty file"), "architecture is ``");
    }
}
