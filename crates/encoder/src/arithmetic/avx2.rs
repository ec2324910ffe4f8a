//! Sixteen floats in two AVX2 registers.
#![allow(unsafe_code)]

use crate::arithmetic::{F32x16, Lanes, inlined};
use std::arch::x86_64::*;

/// AVX2 and FMA. Kernels get this type only from `Instructions`, where both have been detected.
#[derive(Clone, Copy)]
pub(crate) struct Avx2(__m256, __m256);

/// The safety argument of all methods.
macro_rules! detected {
    ($($work:tt)*) => {
        // SAFETY: only `Instructions` runs kernels on `Avx2`, after detecting AVX2 and FMA. Loads and stores go
        // through references to sixteen floats; the second register holds the last eight.
        unsafe { $($work)* }
    };
}

impl F32x16 for Avx2 {
    const HAS_32_REGISTERS: bool = false;

    inlined! {
        fn splat(x: f32) -> Self = detected!({
            let x = _mm256_set1_ps(x);
            Self(x, x)
        });
        fn load(lanes: &Lanes) -> Self = {
            let start = lanes.as_ptr();
            detected!(Self(_mm256_loadu_ps(start), _mm256_loadu_ps(start.add(8))))
        };
        fn store(self, lanes: &mut Lanes) = {
            let start = lanes.as_mut_ptr();
            detected!({
                _mm256_storeu_ps(start, self.0);
                _mm256_storeu_ps(start.add(8), self.1);
            })
        };
        fn prefetch(lanes: &Lanes) = detected!(_mm_prefetch::<_MM_HINT_T1>(lanes.as_ptr().cast()));
        fn add(self, other: Self) -> Self =
            detected!(Self(_mm256_add_ps(self.0, other.0), _mm256_add_ps(self.1, other.1)));
        fn sub(self, other: Self) -> Self =
            detected!(Self(_mm256_sub_ps(self.0, other.0), _mm256_sub_ps(self.1, other.1)));
        fn mul(self, other: Self) -> Self =
            detected!(Self(_mm256_mul_ps(self.0, other.0), _mm256_mul_ps(self.1, other.1)));
        fn mul_add(self, factor: Self, term: Self) -> Self =
            detected!(Self(_mm256_fmadd_ps(self.0, factor.0, term.0), _mm256_fmadd_ps(self.1, factor.1, term.1)));
        fn max(self, other: Self) -> Self =
            detected!(Self(_mm256_max_ps(self.0, other.0), _mm256_max_ps(self.1, other.1)));
    }
}
