//! Reward maps to look at: the predictions of a module for a few fixed screens, over the course of learning.

mod cells;
mod example;
mod film;
mod grid;
mod snapshot;
mod strip;

pub use example::{Example, ExampleError, Outlook, choose_examples};
pub use film::map_film;
pub use grid::MAP_SIDE;
pub use snapshot::{MapSnapshot, snapshot_steps};
pub use strip::map_strip;
