//! Switches: a second task is learned from where a base task ended, and what the old module is worth on it.

mod report;
mod start;

pub use report::{GainRow, SwitchReport, vote_series, with_half};
pub use start::Start;
