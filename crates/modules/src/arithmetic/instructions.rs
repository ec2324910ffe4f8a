//! Kernels, each compiled for AVX-512, for AVX2 with fused multiply-adds, and for any processor.

use crate::arithmetic::Arithmetic;
#[cfg(target_arch = "x86_64")]
use crate::arithmetic::avx2::{Avx2, OneRegister, TwoRegisters};
use crate::arithmetic::portable::Portable;

/// The instruction set that kernels run on.
///
/// AVX-512 and AVX2 give the same bits. Portable kernels round differently: a fused multiply-add rounds once, a separate
/// product and sum twice. A machine always chooses the same set, so repeated runs give the same bits there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instructions(InstructionSet);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum InstructionSet {
    Portable,
    /// Constructed only after detection.
    #[cfg(target_arch = "x86_64")]
    Avx2Fma,
    /// Constructed only after detection.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Instructions {
    /// Available on every processor.
    pub const PORTABLE: Self = Self(InstructionSet::Portable);

    /// The widest of this machine.
    pub fn best() -> Self {
        Self::all().last().unwrap_or(Self::PORTABLE)
    }

    /// All of this machine, the widest last.
    pub fn all() -> impl Iterator<Item = Self> {
        #[cfg(target_arch = "x86_64")]
        let wide = {
            let has_avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
            let has_avx512 = has_avx2
                && is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512bw");
            [has_avx2.then_some(InstructionSet::Avx2Fma), has_avx512.then_some(InstructionSet::Avx512)]
        };
        #[cfg(not(target_arch = "x86_64"))]
        let wide: [Option<InstructionSet>; 0] = [];
        std::iter::once(Self::PORTABLE).chain(wide.into_iter().flatten().map(Self))
    }

    /// `avx512`, `avx2+fma` or `portable`.
    pub fn name(self) -> &'static str {
        match self.0 {
            InstructionSet::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx2Fma => "avx2+fma",
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx512 => "avx512",
        }
    }

    /// Identifies the rounding: runs with equal values end with the same bits.
    pub fn rounding(self) -> &'static str {
        match self.0 {
            // See `portable.rs`.
            InstructionSet::Portable if cfg!(target_arch = "aarch64") => "fused, portable",
            InstructionSet::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx2Fma | InstructionSet::Avx512 => "fused",
        }
    }

    /// Whether there are 32 registers of 16 floats.
    pub(crate) fn has_wide_registers(self) -> bool {
        #[cfg(target_arch = "x86_64")]
        return self.0 == InstructionSet::Avx512;
        #[cfg(not(target_arch = "x86_64"))]
        return false;
    }

    /// Runs a loop that the compiler vectorizes by itself.
    pub fn vectorize(self, plain: impl PlainLoop) {
        self.run(Vectorized(plain));
    }

    #[allow(unsafe_code)]
    pub(crate) fn run(self, kernel: impl Kernel) {
        match self.0 {
            InstructionSet::Portable => kernel.run::<Portable>(),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: this variant is made only where both features were detected.
            InstructionSet::Avx2Fma => unsafe { on_avx2_fma(kernel) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: this variant is made only where all features were detected.
            InstructionSet::Avx512 => unsafe { on_avx512(kernel) },
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn on_avx2_fma(kernel: impl Kernel) {
    kernel.run::<Avx2<TwoRegisters>>();
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
fn on_avx512(kernel: impl Kernel) {
    kernel.run::<Avx2<OneRegister>>();
}

/// A loop that is written with [`Arithmetic`]. `run` and all functions that it calls must be `#[inline(always)]`: only then
/// are they compiled for the instruction set.
pub(crate) trait Kernel {
    fn run<A: Arithmetic>(self);
}

/// A simple loop without reductions, so that its results do not depend on the instruction set. `run` and all functions
/// that it calls must be `#[inline(always)]`.
pub trait PlainLoop {
    /// The loop.
    fn run(self);
}

struct Vectorized<L>(L);

impl<L: PlainLoop> Kernel for Vectorized<L> {
    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        self.0.run();
    }
}
