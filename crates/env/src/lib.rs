//! The TouchStream environment: an endless stream of visual tasks on one 224 x 224 touch screen.
//!
//! The walk: [`stimuli`] -> [`task`] -> [`trial`] -> [`screen`] -> [`touch`] -> reward, played by
//! [`stream::Stream`] along a [`schedule`]. Every random choice comes from [`seed`].
//!
//! This crate knows no files, no networks, no clock and no global randomness.

#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod conformance;
pub mod mask;
mod nearest;
pub mod pixel_box;
pub mod plain_stimuli;
pub mod reward_map;
pub mod schedule;
pub mod screen;
pub mod seed;
pub mod shape;
pub mod stimuli;
pub mod stream;
pub mod task;
mod toml_place;
pub mod touch;
pub mod trial;

pub use nearest::{did_you_mean, nearest};
pub use toml_place::{FileError, line_of_field, parse as parse_toml};

/// The README's example is compiled and run with the tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
