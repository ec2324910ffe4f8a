//! Experiments: runs (trained, checkpointed, resumed), switches between tasks, and studies of many runs, shared among
//! processes and Slurm jobs, then analysed and reported.
//!
//! This crate does not use the command line or the terminal. It takes settings and a stop flag, reports progress and
//! warnings as [`Event`]s to a [`Watch`], and failures as an [`Error`].
//!
//! # Runs
//!
//! [`RunSetup::new`] checks a configuration and completes it. Opening the setup gives its [`Inputs`]: images and
//! features. [`train`] writes a folder in which every file is complete at any time. If the run is started again, it
//! resumes from its last checkpoint and ends with the same bits. [`FinishedRun`] reads the folder.
//!
//! ```no_run
//! use std::path::Path;
//! use std::sync::atomic::AtomicBool;
//! use touchstream_experiment::config::RawConfig;
//! use touchstream_experiment::{RunSetup, TrainOptions, Unwatched, train};
//!
//! let config = RawConfig { task: Some("sr-2way".into()), steps: Some(8_000), ..RawConfig::default() };
//! let setup = RunSetup::new(config)?;
//! let inputs = setup.open(&Unwatched)?;
//! let must_stop = AtomicBool::new(false);
//! train(&setup, &inputs, &TrainOptions::into(Path::new("runs/first")), &must_stop, &Unwatched)?;
//! # Ok::<(), touchstream_experiment::Error>(())
//! ```
//!
//! [`config::Settings::SETTINGS`] lists every setting with its key, values and help; command-line options and pages are
//! generated from it.
//!
//! # Studies
//!
//! A [`study::StudySpec`] lists modules, tasks, switches and seeds. [`study::begin`] writes it to a folder,
//! [`study::cells_of`] lists its runs, [`study::WorkOptions::work`] executes the missing ones, together with any other
//! process, and [`study::report::study_report`] analyses them. `examples/small_study.rs` uses all of this.

#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod baselines;
pub mod bench;
pub mod cache_info;
pub mod cache_sections;
pub mod check;
pub mod config;
mod config_files;
pub mod curve;
mod encode_screens;
pub mod encoder_check;
pub mod encoder_facts;
mod error;
mod feature_scenes;
mod finished_run;
mod inputs;
pub mod listed_output;
pub mod manifest;
pub mod maps;
pub mod output;
mod references;
pub mod rollout;
pub mod run;
mod sealed;
mod setup;
mod stream_results;
pub mod study;
pub mod switching;
mod task_rewards;
mod timed_encoder;
mod train;
mod training_page;
mod vote_series;
mod watch;

pub use encode_screens::{CalibrationFacts, EncodeSummary, ScreensToEncode, encode_screens};
pub use error::{Error, Result, text_of};
pub use feature_scenes::FeatureScenes;
pub use finished_run::FinishedRun;
pub use inputs::Inputs;
pub use setup::RunSetup;
pub use task_rewards::{TaskList, TaskRewards, rewards_of_tasks};
pub use train::{TrainOptions, default_folder, train};
pub use watch::{Event, Unwatched, Watch, WorkProgress};

/// Compiles and runs the examples of docs/rust.md.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/rust.md")]
struct RustGuide;
