//! File access: external files are limited in size before memory is allocated, own files are written atomically, and long
//! operations report their progress.
//!
//! This crate knows neither images nor weights, and prints nothing.

#![deny(clippy::print_stdout, clippy::print_stderr)]

mod file_state;
mod missing_files;
mod outside_file;
mod progress;
mod write_aside;

pub use file_state::{FileState, settled_state, state_of};
pub use missing_files::{entries_of, none_if_not_found};
pub use outside_file::{
    image_file_metadata, metadata_at_most, read_annotation_file, read_at_most, read_image_file,
    refuse_special_file,
};
pub use progress::{NoProgress, Progress};
pub use write_aside::{
    AsideFile, claim_aside, file_in_the_way, sweep_aside, unwritable_cache, write_aside, write_aside_durably,
};
