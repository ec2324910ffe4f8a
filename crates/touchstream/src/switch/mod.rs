//! The switching experiment: bases, second tasks, gains.

pub mod pair;
mod progress;
pub mod report;
pub mod study;
