//! Sixteen floats in one AVX-512 register.
#![allow(unsafe_code)]

use crate::arithmetic::{F32x16, Lanes, inlined};
use std::arch::x86_64::*;

/// AVX-512F. Kernels get this type only from `Instructions`, where AVX-512F has been detected.
#[derive(Clone, Copy)]
pub(crate) struct Avx512(__m512);

/// The safety argument of all methods.
macro_rules! detected {
    ($($work:tt)*) => {
        // SAFETY: only `Instructions` runs kernels on `Avx512`, after detecting AVX-512F. Loads and stores go
        // through references to sixteen floats.
        unsafe { $($work)* }
    };
}

impl F32x16 for Avx512 {
    const HAS_32_REGISTERS: bool = true;

    inlined! {
        fn splat(x: f32) -> Self = Self(detected!(_mm512_set1_ps(x)));
        fn load(lanes: &Lanes) -> Self = Self(detected!(_mm512_loadu_ps(lanes.as_ptr())));
        fn store(self, lanes: &mut Lanes) = detected!(_mm512_storeu_ps(lanes.as_mut_ptr(), self.0));
        fn prefetch(lanes: &Lanes) = detected!(_mm_prefetch::<_MM_HINT_T1>(lanes.as_ptr().cast()));
        fn add(self, other: Self) -> Self = Self(detected!(_mm512_add_ps(self.0, other.0)));
        fn sub(self, other: Self) -> Self = Self(detected!(_mm512_sub_ps(self.0, other.0)));
        fn mul(self, other: Self) -> Self = Self(detected!(_mm512_mul_ps(self.0, other.0)));
        fn mul_add(self, factor: Self, term: Self) -> Self =
            Self(detected!(_mm512_fmadd_ps(self.0, factor.0, term.0)));
        fn max(self, other: Self) -> Self = Self(detected!(_mm512_max_ps(self.0, other.0)));
    }
}
