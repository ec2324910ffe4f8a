//! Features of screens, computed once and cached.
//!
//! A [`FeatureSet`] contains the centred and scaled scene vectors of the screens of a set of tasks. Features that are
//! not cached are encoded ([`encode_tasks`]); processes that need the same screens divide the work ([`store`]).
//!
//! This crate knows encoders, tasks and its own files, but no modules, and prints nothing.

#![deny(clippy::print_stdout, clippy::print_stderr)]

#[cfg(target_endian = "big")]
compile_error!("feature files are read in place as little-endian numbers");

mod bucket_locks;
mod calibrated;
mod calibration;
mod calibration_file;
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
pub use encode::{EncodeContext, Encoded, Wanted, encode_tasks};
pub use error::FeatureError;
pub use feature_set::{FeatureSet, FeatureSettings};
pub use record_key::RecordKey;
