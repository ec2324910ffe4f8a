//! Inspects the quality of an encoder: statistics of its features, and nearest neighbours by scene vector.

mod neighbours;
mod scene_table;
mod statistics;

pub use neighbours::{Neighbour, nearest_neighbours, same_label_share};
pub use scene_table::{EncodedScreens, SceneTable, encode_screens};
pub use statistics::{SceneStatistics, ValueStatistics};
