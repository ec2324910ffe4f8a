//! The lab: runs that are trained, checkpointed, resumed and written down.
//!
//! A run is a folder. Whatever happens to the process, the folder holds whole files only, and a run that is started
//! again goes on from its last checkpoint with the same bits.
//!
//! This crate knows agents, features and files; it knows no terminals and no words of the command line.

pub mod curve;
mod feature_scenes;
pub mod maps;
pub mod run;
pub mod study;
pub mod switching;

pub use feature_scenes::FeatureScenes;
