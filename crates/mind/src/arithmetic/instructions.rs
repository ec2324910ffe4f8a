//! Loops compiled twice: for AVX2 with fused multiply-adds, and for whatever machine this is.

use crate::arithmetic::Arithmetic;
#[cfg(target_arch = "x86_64")]
use crate::arithmetic::avx2::Avx2;
use crate::arithmetic::portable::Portable;

/// Which instructions loops are compiled for.
///
/// The two differ in rounding: a fused multiply-add rounds once, a separate one twice. One machine always chooses the
/// same, so a run gives the same bits whenever it is repeated there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instructions(Kind);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Portable,
    /// Only ever made after detection.
    #[cfg(target_arch = "x86_64")]
    Avx2Fma,
}

impl Instructions {
    /// What every machine of this kind has.
    pub const PORTABLE: Self = Self(Kind::Portable);

    /// The widest that this machine has.
    pub fn best() -> Self {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
            return Self(Kind::Avx2Fma);
        }
        Self::PORTABLE
    }

    /// `avx2+fma` or `portable`.
    pub fn name(self) -> &'static str {
        match self.0 {
            Kind::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2Fma => "avx2+fma",
        }
    }

    /// Runs a loop on these instructions.
    #[allow(unsafe_code)]
    pub(crate) fn run(self, kernel: impl Kernel) {
        match self.0 {
            Kind::Portable => kernel.run::<Portable>(),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: this variant is made only where both features were detected.
            Kind::Avx2Fma => unsafe { on_avx2_fma(kernel) },
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn on_avx2_fma(kernel: impl Kernel) {
    kernel.run::<Avx2>();
}

/// A loop that gains from wide registers. Mark `run` and all it calls `#[inline(always)]`, so that it is compiled into
/// its callers.
pub(crate) trait Kernel {
    /// Does it.
    fn run<A: Arithmetic>(self);
}
