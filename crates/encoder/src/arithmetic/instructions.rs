//! Compiles kernels for AVX-512, for AVX2 with FMA, and for the target's baseline, and selects one at run time.

use crate::arithmetic::F32x16;
use crate::arithmetic::portable::Portable;
#[cfg(target_arch = "x86_64")]
use crate::arithmetic::{avx2::Avx2, avx512::Avx512};

/// An instruction set for kernels. AVX-512 and AVX2 give the same bits; portable code may round differently, because it
/// does not fuse multiplications and additions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Instructions(InstructionSet);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum InstructionSet {
    Portable,
    /// Only constructed after detection, as is `Avx512`.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Instructions {
    /// The widest instructions of this machine.
    pub fn best() -> Self {
        Self::all().last().unwrap_or(Self(InstructionSet::Portable))
    }

    /// All instructions of this machine, the widest last.
    pub fn all() -> impl Iterator<Item = Self> {
        #[cfg(target_arch = "x86_64")]
        let wide = {
            let has_avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
            let has_avx512 = has_avx2 && is_x86_feature_detected!("avx512f");
            [has_avx2.then_some(InstructionSet::Avx2), has_avx512.then_some(InstructionSet::Avx512)]
        };
        #[cfg(not(target_arch = "x86_64"))]
        let wide: [Option<InstructionSet>; 0] = [];
        std::iter::once(InstructionSet::Portable).chain(wide.into_iter().flatten()).map(Self)
    }

    /// Runs a kernel on these instructions.
    #[allow(unsafe_code)]
    pub fn run(self, kernel: impl Kernel) {
        match self.0 {
            InstructionSet::Portable => kernel.run::<Portable>(),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: this variant is only constructed if AVX2 and FMA are detected.
            InstructionSet::Avx2 => unsafe { on_avx2(kernel) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: this variant is only constructed if AVX2, FMA and AVX-512F are detected.
            InstructionSet::Avx512 => unsafe { on_avx512(kernel) },
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

/// A loop over vectors. Mark `run` and everything it calls `#[inline(always)]`, so that it is compiled into its
/// callers.
pub(crate) trait Kernel {
    fn run<F: F32x16>(self);
}
