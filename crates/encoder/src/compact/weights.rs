//! The network's weights, which are part of the program; that they do not fit would be a mistake in the program.

use safetensors::{Dtype, SafeTensors};
use touchstream_env::stimuli::ContentHash;

/// Recorded in the weights file; must be changed whenever the same weights would give other features.
const ARCHITECTURE: &str = "compact-1";

/// The tensors of a safetensors file with the right architecture.
pub struct Weights<'a> {
    tensors: SafeTensors<'a>,
}

impl<'a> Weights<'a> {
    pub fn open(bytes: &'a [u8]) -> Self {
        let (_, metadata) = SafeTensors::read_metadata(bytes).expect("the weights are safetensors");
        let found = metadata.metadata().as_ref().and_then(|facts| facts.get("architecture"));
        assert_eq!(found.map(String::as_str), Some(ARCHITECTURE));
        Self { tensors: SafeTensors::deserialize(bytes).expect("the header is valid") }
    }

    /// A hash of architecture, names, shapes and values, independent of other metadata and of the order in the file.
    pub fn content_hash(&self) -> ContentHash {
        let mut names = self.tensors.names();
        names.sort_unstable();
        let mut hasher = blake3::Hasher::new();
        hasher.update(ARCHITECTURE.as_bytes());
        for (name, tensor) in names.iter().filter_map(|name| Some((name, self.tensors.tensor(name).ok()?))) {
            hasher.update(format!("\n{name} {} {:?}\n", tensor.dtype(), tensor.shape()).as_bytes());
            hasher.update(tensor.data());
        }
        ContentHash(*hasher.finalize().as_bytes())
    }

    /// A tensor that must have a given shape.
    pub fn get(&self, tensor: &str, shape: &[usize]) -> Vec<f32> {
        let view = self.tensors.tensor(tensor).unwrap_or_else(|error| panic!("{tensor}: {error}"));
        assert_eq!((view.dtype(), view.shape()), (Dtype::F32, shape), "{tensor}");
        view.data().as_chunks().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect()
    }
}
