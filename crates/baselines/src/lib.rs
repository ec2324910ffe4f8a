//! What localization comes to without reward maps: boxes that never move, and how well any guessed box fits.
//!
//! This crate knows boxes and scene vectors; it knows no files, no encoders and no terminals.

#![deny(clippy::print_stdout, clippy::print_stderr)]

mod box_numbers;
mod boxed_scenes;
mod fixed_box;
mod score;

pub use box_numbers::{BoxNumbers, box_from_numbers, numbers_from_box};
pub use boxed_scenes::{BoxedScenes, BoxedScenesError};
pub use fixed_box::{best_fixed_box, mean_box};
pub use score::{Score, mean_iou};
