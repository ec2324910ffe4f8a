//! One file per command: its arguments and its `run`.

pub mod baselines;
pub mod bench;
pub mod cache;
pub mod check;
pub mod data;
pub mod demo;
pub mod encode;
pub mod encoder;
pub mod eval;
pub mod maps;
pub mod modules;
pub mod preview;
pub mod report;
pub mod rollout;
pub mod run;
pub mod schedules;
pub mod study;
pub mod switch;
pub mod tasks;
pub mod tour;
pub mod train;
pub mod verify;
