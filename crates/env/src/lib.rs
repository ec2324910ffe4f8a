//! The TouchStream environment: an endless stream of visual tasks on one 224 x 224 touch screen.
//!
//! This crate knows no files, no networks, no clock and no global randomness.

pub mod mask;
pub mod pixel_box;
pub mod screen;
pub mod seed;
pub mod stimuli;
pub mod touch;
