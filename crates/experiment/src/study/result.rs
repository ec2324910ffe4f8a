//! Which files of a complete run are kept.

use crate::error::{Context, Result};
use crate::run::RunFolder;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::PathBuf;
use touchstream_files::none_if_not_found;

/// Which files of a complete run are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Only the curve.
    Curve,
    /// Also weights, and the checkpoint that other runs can start from.
    Everything,
}

/// `result.json`: identifies the weights even if they are not kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunResult {
    /// `None` if the run failed.
    pub weights_hash: Option<String>,
}

/// Records the hash of the weights, deletes files that are not kept, since a study of a thousand runs would fill a disk,
/// and writes the manifest.
pub fn settle_run(folder: &RunFolder, keep: Keep) -> Result<()> {
    let weights = folder.weights();
    let bytes = none_if_not_found(fs::read(&weights)).at(&weights)?;
    let weights_hash = bytes.map(|bytes| blake3::hash(&bytes).to_hex().to_string());
    folder.write(&folder.result(), &serde_json::to_vec(&RunResult { weights_hash })?)?;
    let delete = |path: PathBuf| none_if_not_found(fs::remove_file(&path)).at(&path);
    if keep == Keep::Curve {
        delete(weights)?;
        delete(folder.checkpoint())?;
    }
    folder.write_manifest()
}
