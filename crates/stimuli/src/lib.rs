//! The four sources of images: the built-in gallery, a folder of images, COCO, and cut-outs composed on backgrounds.
//!
//! [`open`] turns a [`SourceSpec`] into a [`touchstream_env::stimuli::Stimuli`], with a [`Manifest`] of what was found
//! and skipped. External files are not trusted: sizes are limited before memory is allocated, and invalid files are
//! skipped and listed. This crate knows no tasks and prints nothing.

#![deny(clippy::print_stdout, clippy::print_stderr)]

mod class_names;
pub mod coco;
mod cutouts;
pub mod decode;
mod error;
mod exif;
mod file_index;
mod folder;
pub mod gallery;
mod image_cache;
mod listing;
mod manifest;
mod open;
mod options;
pub mod pixels;
mod resize;
mod source;
mod spec;
mod templates;
mod validation_part;

pub use error::SourceError;
pub use manifest::{ClassCounts, Manifest, Skipped, SplitCounts};
pub use open::{Opened, open};
pub use options::{Needs, SceneFit, Sizes, SourceOptions, TemplateRule};
pub use spec::{SourceSpec, SpecError};
pub use validation_part::{HalfValidated, ValidationPart};

#[cfg(test)]
mod fixtures;
