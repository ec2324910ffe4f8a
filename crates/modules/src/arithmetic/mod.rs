//! SIMD arithmetic: vectors of eight floats and blocks of sixteen, on AVX-512, AVX2 or any processor.

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
    Arithmetic, Block, Lanes, N_BLOCK, N_LANES, ROUNDER, SimdBlock, SimdVector, inlined, load_from,
    store_from,
};
