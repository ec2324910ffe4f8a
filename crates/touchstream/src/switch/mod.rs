//! The switching experiment: bases, second tasks, gains.

pub mod pair;
pub mod report;
pub mod study;
