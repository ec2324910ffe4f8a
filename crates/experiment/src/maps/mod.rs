//! Images and animations of reward maps: a module's predictions for a few fixed screens during training.

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
