//! The four sources of images, the first station of the walk: the built-in gallery, a folder of images,
//! COCO, and cut-outs composed on backgrounds.
//!
//! [`open`] turns a [`SourceSpec`] into something the environment can draw from, with a [`Manifest`] of what was
//! found and what was left out. Files from outside are never trusted: sizes are limited before memory is taken,
//! and what is broken is skipped and named. This crate knows no task and no terminal.

#![deny(clippy::print_stdout, clippy::print_stderr)]

mod class_names;
pub mod coco;
mod cutouts;
pub mod decode;
mod error;
mod file_index;
mod folder;
pub mod gallery;
mod listing;
mod manifest;
mod open;
mod options;
mod picture_cache;
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
