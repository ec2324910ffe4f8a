//! Switches: a base task is learned once, then another one with what was learned, and from scratch.

mod gain;
mod variant;

pub use gain::{area, gains};
pub use touchstream_statistics::{Gains, StudentInterval as Interval, student_interval as interval};
pub use variant::{Start, Variant};
