//! Whether an encoder's eyes are any good: statistics of its features and nearest neighbours by scene vector.

mod neighbours;
mod scene_table;
mod statistics;

pub use neighbours::{Neighbour, nearest_neighbours, same_label_share};
pub use scene_table::{EncodedScreens, SceneTable, encode_screens};
pub use statistics::{NumberStatistics, SceneStatistics};
