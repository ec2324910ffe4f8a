//! Loops compiled several times: for AVX2 with fused multiply-adds, with AVX-512 besides, and for whatever machine this is.

use crate::arithmetic::Arithmetic;
#[cfg(target_arch = "x86_64")]
use crate::arithmetic::avx2::{Avx2, OneRegister, TwoRegisters};
use crate::arithmetic::portable::Portable;

/// Which instructions loops are compiled for.
///
/// Portable ones differ from the others in rounding: a fused multiply-add rounds once, a separate one twice. With AVX-512 or
/// without, bits are the same. One machine always chooses the same, so a run gives the same bits whenever it is repeated there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instructions(Kind);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Portable,
    /// Only ever made after detection.
    #[cfg(target_arch = "x86_64")]
    Avx2Fma,
    /// The same.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Instructions {
    /// What every machine of this kind has.
    pub const PORTABLE: Self = Self(Kind::Portable);

    /// The widest that this machine has.
    pub fn best() -> Self {
        Self::all().last().unwrap_or(Self::PORTABLE)
    }

    /// All that this machine has, the widest last.
    pub fn all() -> impl Iterator<Item = Self> {
        #[cfg(target_arch = "x86_64")]
        let wide = {
            let has_avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
            let has_avx512 = has_avx2
                && is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512bw");
            [has_avx2.then_some(Kind::Avx2Fma), has_avx512.then_some(Kind::Avx512)]
        };
        #[cfg(not(target_arch = "x86_64"))]
        let wide: [Option<Kind>; 0] = [];
        std::iter::once(Self::PORTABLE).chain(wide.into_iter().flatten().map(Self))
    }

    /// `avx512`, `avx2+fma` or `portable`.
    pub fn name(self) -> &'static str {
        match self.0 {
            Kind::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2Fma => "avx2+fma",
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 => "avx512",
        }
    }

    /// How they round, in one word: with the same, a run ends with the same bits.
    pub fn rounding(self) -> &'static str {
        match self.0 {
            // See `portable.rs`.
            Kind::Portable if cfg!(target_arch = "aarch64") => "fused, portable",
            Kind::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2Fma | Kind::Avx512 => "fused",
        }
    }

    /// Whether there are 32 registers of 16 numbers.
    pub(crate) fn has_wide_registers(self) -> bool {
        #[cfg(target_arch = "x86_64")]
        return self.0 == Kind::Avx512;
        #[cfg(not(target_arch = "x86_64"))]
        return false;
    }

    /// Runs a loop that the compiler makes wide by itself.
    pub fn widen(self, plain: impl PlainLoop) {
        self.run(Widened(plain));
    }

    /// Runs a loop on these instructions.
    #[allow(unsafe_code)]
    pub(crate) fn run(self, kernel: impl Kernel) {
        match self.0 {
            Kind::Portable => kernel.run::<Portable>(),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: this variant is made only where both features were detected.
            Kind::Avx2Fma => unsafe { on_avx2_fma(kernel) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: this variant is made only where all features were detected.
            Kind::Avx512 => unsafe { on_avx512(kernel) },
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

/// A loop that gains from wide registers. Mark `run` and all it calls `#[inline(always)]`, so that it is compiled into
/// its callers.
pub(crate) trait Kernel {
    /// Does it.
    fn run<A: Arithmetic>(self);
}

/// A simple loop without sums, the same on all instructions. Mark `run` and all it calls `#[inline(always)]`.
pub trait PlainLoop {
    /// Does it.
    fn run(self);
}

struct Widened<L>(L);

impl<L: PlainLoop> Kernel for Widened<L> {
    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        self.0.run();
    }
}
