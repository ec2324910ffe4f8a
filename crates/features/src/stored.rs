//! The features in one record, on disk or in memory.

use crate::mapped_file::MappedFile;
use half::f16;
use std::ops::Range;
use std::sync::Arc;

/// The payload of a verified record; cheap to clone.
#[derive(Clone, Debug)]
pub(crate) enum Stored {
    /// In a segment; `payload` is aligned to 64 bytes.
    Mapped { file: Arc<MappedFile>, payload: Range<usize> },
    /// In memory, without a writable cache; `words` is padded with zeros.
    Memory { words: Arc<[u64]>, n_bytes: usize },
}

impl Stored {
    pub fn in_memory(payload: &[u8]) -> Self {
        let mut words = vec![0_u64; payload.len().div_ceil(8)];
        bytemuck::cast_slice_mut::<u64, u8>(&mut words)[..payload.len()].copy_from_slice(payload);
        Self::Memory { words: words.into(), n_bytes: payload.len() }
    }

    fn bytes(&self) -> &[u8] {
        match self {
            Self::Mapped { file, payload } => &file.bytes()[payload.clone()],
            Self::Memory { words, n_bytes } => &bytemuck::cast_slice(words)[..*n_bytes],
        }
    }

    /// Releases the memory of the payload, if it is mapped from a file.
    pub fn forget(&self) {
        if let Self::Mapped { file, payload } = self {
            file.forget(payload.clone());
        }
    }

    /// A scene vector, `[scene_len]`.
    pub fn scene(&self) -> &[f32] {
        bytemuck::cast_slice(self.bytes())
    }

    /// A spatial map, `[14, 14, map_channels]`.
    pub fn map(&self) -> &[f16] {
        bytemuck::cast_slice(self.bytes())
    }
}
