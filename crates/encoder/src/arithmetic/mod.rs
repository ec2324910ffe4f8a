//! Sixteen floats at a time: one register of AVX-512, two of AVX2, or an array on any other machine. Which of them is
//! chosen when the program runs.

mod aligned_floats;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod instructions;
mod portable;
mod vector;

pub(crate) use aligned_floats::AlignedFloats;
pub(crate) use instructions::{Instructions, Kernel};
pub(crate) use vector::{F32x16, Lanes, N_LANES};
