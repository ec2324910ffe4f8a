//! Reads the network's weights from safetensors.

use safetensors::{Dtype, SafeTensors};
use touchstream_env::stimuli::ContentHash;

/// Recorded in the weights file; must be changed whenever the same weights would give other features.
pub const ARCHITECTURE: &str = "compact-1";

/// Why weights cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum WeightsError {
    /// The file is not in the safetensors format.
    #[error("weights of compact: {0}")]
    Format(#[from] safetensors::SafeTensorError),
    /// The weights belong to another network.
    #[error("weights of compact: architecture is `{found}`, expected `{ARCHITECTURE}`")]
    Architecture { found: String },
    /// A tensor has another type or shape.
    #[error("weights of compact: tensor `{tensor}` is {dtype} {found:?}, expected F32 {expected:?}")]
    Shape { tensor: String, dtype: Dtype, found: Vec<usize>, expected: Vec<usize> },
}

/// The tensors of a file with the right architecture.
pub struct Weights<'a> {
    tensors: SafeTensors<'a>,
}

impl<'a> Weights<'a> {
    pub fn open(bytes: &'a [u8]) -> Result<Self, WeightsError> {
        let (_, metadata) = SafeTensors::read_metadata(bytes)?;
        let found = metadata.metadata().as_ref().and_then(|facts| facts.get("architecture"));
        if found.map(String::as_str) != Some(ARCHITECTURE) {
            return Err(WeightsError::Architecture { found: found.cloned().unwrap_or_default() });
        }
        Ok(Self { tensors: SafeTensors::deserialize(bytes)? })
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
    pub fn get(&self, tensor: &str, expected: &[usize]) -> Result<Vec<f32>, WeightsError> {
        let view = self.tensors.tensor(tensor)?;
        if view.dtype() != Dtype::F32 || view.shape() != expected {
            return Err(WeightsError::Shape {
                tensor: tensor.to_owned(),
                dtype: view.dtype(),
                found: view.shape().to_vec(),
                expected: expected.to_vec(),
            });
        }
        let (values, _) = view.data().as_chunks::<4>();
        Ok(values.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect())
    }
}
