//! What localization comes to without reward maps: boxes that never move, and boxes that are regressed from scene
//! vectors by somebody who is shown the true ones.
//!
//! An agent is told one number for two touches; ridge regression is told four numbers for every screen. What both reach
//! on the same features says what the features hold and what learning from rewards alone makes of it.
//!
//! This crate knows boxes and scene vectors; it knows no files, no encoders and no terminals.

mod box_numbers;
mod boxed_scenes;
mod conjugate_gradients;
mod fixed_box;
mod ridge;
mod score;

pub use box_numbers::{BoxNumbers, box_from_numbers, numbers_from_box};
pub use boxed_scenes::{BoxedScenes, BoxedScenesError};
pub use fixed_box::{best_fixed_box, mean_box};
pub use ridge::{MAX_RIDGE_SCREENS, Ridge, RidgeError, fit_ridge};
pub use score::{Score, mean_iou};
