//! Reward maps to look at: the predictions of a module for a few fixed screens, over the course of learning.

mod example;
mod snapshot;
mod strip;

pub use example::{Example, ExampleError, choose_examples};
pub use snapshot::{MAP_SIDE, MapSnapshot, snapshot_steps};
pub use strip::map_strip;
