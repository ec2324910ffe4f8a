//! Switches: a second task is learned from where a base task ended.

mod start;

pub use start::Start;
