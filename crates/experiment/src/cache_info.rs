//! The contents of the cache folder: stores of features, rendered images, weights.

use crate::cache_sections::{CacheSection, SectionFiles};
use crate::error::{Context, Result};
use serde::Serialize;
use std::io;
use std::path::{Path, PathBuf};
use touchstream_features::inventory::{StoreFacts, examine, store_folders};

#[derive(Serialize)]
pub struct CacheInfo {
    pub folder: PathBuf,
    pub features: Vec<StoreLine>,
    pub pictures: SectionLine,
    pub weights: SectionLine,
    pub n_bytes: u64,
}

#[derive(Serialize)]
pub struct StoreLine {
    pub folder: PathBuf,
    pub encoder: Option<String>,
    pub encoder_hash: Option<String>,
    pub data: Option<String>,
    pub data_hash: Option<String>,
    pub n_scenes: usize,
    pub n_maps: usize,
    pub n_damaged: usize,
    pub n_bytes: u64,
}

#[derive(Serialize)]
pub struct SectionLine {
    pub n_files: usize,
    pub n_bytes: u64,
}

impl From<StoreFacts> for StoreLine {
    fn from(facts: StoreFacts) -> Self {
        let StoreFacts { folder, head, n_scenes, n_maps, n_damaged, n_bytes } = facts;
        let (encoder, encoder_hash, data, data_hash) = match head {
            Some(head) => (
                Some(head.encoder_name),
                Some(head.encoder_hash.to_string()),
                Some(head.data_name),
                Some(head.data_hash.to_string()),
            ),
            None => (None, None, None, None),
        };
        Self { folder, encoder, encoder_hash, data, data_hash, n_scenes, n_maps, n_damaged, n_bytes }
    }
}

impl From<SectionFiles> for SectionLine {
    fn from(files: SectionFiles) -> Self {
        Self { n_files: files.ours.len(), n_bytes: files.n_bytes }
    }
}

impl CacheInfo {
    /// Reads the whole cache and checks every checksum.
    pub fn read(folder: PathBuf) -> Result<Self> {
        let features: Vec<StoreLine> = each_store(&folder, examine)?.into_iter().map(Into::into).collect();
        let pictures: SectionLine = CacheSection::Pictures.scan(&folder)?.into();
        let weights: SectionLine = CacheSection::Weights.scan(&folder)?.into();
        let mut info = Self { folder, features, pictures, weights, n_bytes: 0 };
        info.n_bytes = info.n_feature_bytes() + info.pictures.n_bytes + info.weights.n_bytes;
        Ok(info)
    }

    pub fn n_feature_bytes(&self) -> u64 {
        self.features.iter().map(|store| store.n_bytes).sum()
    }
}

/// Applies `read` to every store of features.
pub fn each_store<T>(cache_dir: &Path, read: fn(&Path) -> io::Result<T>) -> Result<Vec<T>> {
    let folders = store_folders(cache_dir).at(cache_dir)?;
    folders.iter().map(|folder| read(folder).at(folder)).collect()
}
