//! Switches: a base task is learned once, then another one with what was learned, and from scratch.

mod gain;
mod variant;

pub use gain::{Gains, Interval, area, gains, interval};
pub use variant::{Start, Variant};
