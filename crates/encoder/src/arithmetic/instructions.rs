//! Kernels compiled several times: for AVX-512, for AVX2 with FMA, and for the target's baseline.

use crate::arithmetic::F32x16;
use crate::arithmetic::portable::Portable;
#[cfg(target_arch = "x86_64")]
use crate::arithmetic::{avx2::Avx2, avx512::Avx512};

/// Which instructions kernels run on. AVX-512 and AVX2 give the same bits; portable ones may round differently, because
/// they do not fuse products and sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Instructions(Kind);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Portable,
    /// Only ever made after detection, as the next one.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Instructions {
    /// The widest that this machine has.
    pub fn best() -> Self {
        Self::all().last().unwrap_or(Self(Kind::Portable))
    }

    /// All that this machine has, the widest last.
    pub fn all() -> impl Iterator<Item = Self> {
        #[cfg(target_arch = "x86_64")]
        let wide = {
            let has_avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
            let has_avx512 = has_avx2 && is_x86_feature_detected!("avx512f");
            [has_avx2.then_some(Kind::Avx2), has_avx512.then_some(Kind::Avx512)]
        };
        #[cfg(not(target_arch = "x86_64"))]
        let wide: [Option<Kind>; 0] = [];
        std::iter::once(Kind::Portable).chain(wide.into_iter().flatten()).map(Self)
    }

    /// Runs a kernel on these instructions.
    #[allow(unsafe_code)]
    pub fn run(self, kernel: impl Kernel) {
        match self.0 {
            Kind::Portable => kernel.run::<Portable>(),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: this variant is made only where AVX2 and FMA were detected.
            Kind::Avx2 => unsafe { on_avx2(kernel) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: this variant is made only where AVX2, FMA and AVX-512F were detected.
            Kind::Avx512 => unsafe { on_avx512(kernel) },
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn on_avx2(kernel: impl Kernel) {
    kernel.run::<Avx2>();
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,avx512f")]
fn on_avx512(kernel: impl Kernel) {
    kernel.run::<Avx512>();
}

/// A loop over vectors. Mark `run` and all it calls `#[inline(always)]`, so that it is compiled into its callers.
pub(crate) trait Kernel {
    /// Does it.
    fn run<F: F32x16>(self);
}
