//! One file a command: its arguments and what it does.

pub mod data;
pub mod preview;
pub mod rollout;
pub mod schedules;
pub mod tasks;
pub mod tour;
