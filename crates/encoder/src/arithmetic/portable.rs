//! Sixteen floats as an array, on any machine.

use crate::arithmetic::{F32x16, Lanes, N_LANES, inlined};

/// Plain arithmetic, which the compiler vectorizes for the target's baseline.
#[derive(Clone, Copy)]
pub(crate) struct Portable(Lanes);

impl Portable {
    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(f32, f32) -> f32) -> Self {
        let mut out = self;
        for lane in 0..N_LANES {
            out.0[lane] = f(self.0[lane], other.0[lane]);
        }
        out
    }
}

impl F32x16 for Portable {
    const HAS_32_REGISTERS: bool = false;

    inlined! {
        fn splat(x: f32) -> Self = Self([x; N_LANES]);
        fn load(lanes: &Lanes) -> Self = Self(*lanes);
        fn store(self, lanes: &mut Lanes) = *lanes = self.0;
        fn prefetch(_: &Lanes) = ();
        fn add(self, other: Self) -> Self = self.zip(other, |a, b| a + b);
        fn sub(self, other: Self) -> Self = self.zip(other, |a, b| a - b);
        fn mul(self, other: Self) -> Self = self.zip(other, |a, b| a * b);
        fn max(self, other: Self) -> Self = self.zip(other, |a, b| if a > b { a } else { b });
    }

    /// Fused only where every processor of the architecture supports it: elsewhere it would be a function call.
    #[inline(always)]
    fn mul_add(self, factor: Self, term: Self) -> Self {
        if cfg!(target_arch = "aarch64") {
            let mut out = term;
            for lane in 0..N_LANES {
                out.0[lane] = self.0[lane].mul_add(factor.0[lane], term.0[lane]);
            }
            out
        } else {
            self.mul(factor).add(term)
        }
    }
}
