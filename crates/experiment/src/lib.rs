//! Experiments: runs that are trained, checkpointed and resumed, switches between tasks, and studies of many runs, which are
//! planned, shared among processes, read, evaluated and reported.
//!
//! A run is a folder. Whatever happens to the process, the folder contains complete files only, and a run that is started
//! again continues from its last checkpoint with the same bits.
//!
//! This crate knows no command lines and no terminals: it is given settings and a flag to stop, and reports progress and
//! warnings as [`Event`]s. `examples/small_study.rs` runs a study.

#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod baselines;
pub mod cache_sections;
pub mod config;
mod config_files;
pub mod curve;
pub mod encoder_check;
mod error;
mod feature_scenes;
mod finished_run;
mod inputs;
pub mod maps;
pub mod output;
pub mod rollout;
pub mod run;
mod setup;
pub mod study;
pub mod switching;
mod timed_encoder;
mod train;
mod training_page;
mod watch;

pub use error::{Error, Result};
pub use feature_scenes::FeatureScenes;
pub use finished_run::FinishedRun;
pub use inputs::Inputs;
pub use setup::RunSetup;
pub use timed_encoder::TimedEncoder;
pub use train::{default_folder, train};
pub use watch::{Event, Unwatched, Watch, WorkProgress};
