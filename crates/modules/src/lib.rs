//! Modules that predict reward maps, alone or composed by Dynamic Neural Voting, and how they learn.
//!
//! The walk's station between encoder and touch. Features and past touches go in, `k_f` logits for each candidate touch
//! come out ([`Skill::predict`]); what was rewarded goes back ([`Skill::learn`]). A skill is one module, or several under
//! a controller that votes. Forward and backward are written by hand, for this one shape of work: few wide inputs, many candidates, small batches.
//!
//! This crate knows no tasks, no screens, no policies, no files and no randomness.

#![deny(clippy::print_stdout, clippy::print_stderr)]

mod adam;
mod arithmetic;
pub mod composite;
mod exponential;
mod large_memory;
mod linear;
mod loss;
pub mod module;
mod nonlinearity;
mod skill;

pub use adam::{AdamSettings, AdamState};
pub use arithmetic::{Instructions, PlainLoop};
pub use exponential::{set_exponentials, set_sigmoids};
pub use large_memory::AlignedNumbers;
pub use loss::cross_entropy;
pub use nonlinearity::Nonlinearity;
pub use skill::{Skill, SkillBatch, SkillLearner, SkillMemory};
