//! Eight numbers at a time: one register where the machine has AVX2, an array where it has not. Candidates come in blocks of
//! sixteen: one register of AVX-512, or two times eight.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod instructions;
mod lanes;
mod portable;
mod twice;

pub(crate) use instructions::Kernel;
pub use instructions::{Instructions, PlainLoop};
pub(crate) use lanes::{
    Arithmetic, Block, Lanes, N_BLOCK, N_LANES, ROUNDER, SimdBlock, SimdVector, load_from, padded, store_from,
};
