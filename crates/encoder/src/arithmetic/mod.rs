//! Vectors of sixteen floats: one AVX-512 register, two AVX2 registers, or an array on other machines, selected at run
//! time.

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
pub(crate) use vector::{F32x16, Lanes, N_LANES, inlined};
