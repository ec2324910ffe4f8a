//! How touchstream treats files: bytes from outside are limited before memory is taken, files of its own are whole
//! or not there, and long work says how far it has come.
//!
//! This crate knows neither images nor weights nor terminals.

#![deny(clippy::print_stdout, clippy::print_stderr)]

mod outside_file;
mod progress;
mod vanishing;
mod write_aside;

pub use outside_file::{
    metadata_at_most, picture_file_metadata, read_annotation_file, read_at_most, read_picture_file,
};
pub use progress::{NoProgress, Progress};
pub use vanishing::{entries_of, unless_gone};
pub use write_aside::{
    AsideFile, claim_aside, file_in_the_way, sweep_aside, unwritable_cache, write_aside, write_aside_durably,
};
