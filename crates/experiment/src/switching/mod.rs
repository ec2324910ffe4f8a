//! Switches: a second task is learned from the end of a base task.

mod start;

pub use start::Start;
