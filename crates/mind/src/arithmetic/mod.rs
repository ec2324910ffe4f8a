//! Eight numbers at a time: one register where the machine has AVX2, an array where it has not.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod instructions;
mod lanes;
mod portable;

pub use instructions::Instructions;
pub(crate) use instructions::Kernel;
pub(crate) use lanes::{Arithmetic, Lanes, N_LANES, ROUNDER, load_from, padded, store_from};
