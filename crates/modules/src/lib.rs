//! Modules that predict reward maps, alone or composed by Dynamic Neural Voting, and how they learn.
//!
//! [`Skill::predict`] computes `k_f` logits for each candidate touch from features and past touches; [`Skill::learn`] updates
//! the skill from rewards. A skill is one module, or several whose activations a controller votes on. Forward and backward
//! passes are written by hand for this work: few wide inputs, many candidates, small batches.
//! `docs/design/kernels.md` explains how they are fast.
//!
//! This crate knows no tasks, screens, policies, files or random numbers.

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
