//! Features of screens, computed once: the walk's station between encoder and module.
//!
//! A [`FeatureSet`] holds the centred and scaled scene vectors of a task's screens. What is not in the cache yet is
//! encoded first ([`encode_tasks`]), shared with other processes that want the same screens ([`store`]).
//!
//! This crate knows encoders, tasks and its own files; it knows no networks, no weights and no terminals.

#![deny(clippy::print_stdout, clippy::print_stderr)]

#[cfg(target_endian = "big")]
compile_error!("feature files are read in place as little-endian numbers");

mod calibrated;
mod calibration;
mod calibration_file;
mod claims;
mod encode;
mod error;
mod feature_set;
pub mod inventory;
mod map_scale;
mod mapped_file;
mod missing;
mod recipe_bytes;
mod record_key;
pub mod segment;
mod segment_writer;
pub mod store;
mod stored;

pub use calibrated::{Calibrated, calibrate_tasks};
pub use calibration::{Calibration, CalibrationSettings};
pub use encode::{Encoded, Eyes, Wanted, encode_tasks};
pub use error::FeatureError;
pub use feature_set::{FeatureSet, FeatureSettings};
pub use record_key::RecordKey;
