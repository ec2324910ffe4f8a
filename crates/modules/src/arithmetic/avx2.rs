//! Eight numbers as one register of AVX2, products and sums fused.
//!
//! The compiler finds these instructions for itself in simple loops, but not reliably in the ones that matter most here:
//! a kernel that keeps twelve sums in registers is five times as slow when it spills or transposes them.
#![allow(unsafe_code)]

use crate::arithmetic::avx512::Avx512;
use crate::arithmetic::twice::Twice;
use crate::arithmetic::{Arithmetic, Lanes, SimdBlock, SimdVector};
use std::arch::x86_64::*;
use std::marker::PhantomData;

/// AVX2 and FMA; `W` says in what blocks stand. Only `Instructions` runs loops on it, and only where both were detected.
#[derive(Clone, Copy)]
pub(crate) struct Avx2<W>(PhantomData<W>);

/// Blocks in two registers of AVX2.
#[derive(Clone, Copy)]
pub(crate) struct TwoRegisters;

/// Blocks in one register of AVX-512, where that was detected too.
#[derive(Clone, Copy)]
pub(crate) struct OneRegister;

/// The one thing that all methods rely on.
macro_rules! detected {
    ($($work:tt)*) => {
        // SAFETY: loops on `Avx2` are run by `Instructions` alone, after AVX2 and FMA were detected. Loads and stores
        // go through references to eight numbers.
        unsafe { $($work)* }
    };
}

impl<W: Copy> SimdVector for Avx2<W> {
    type Memory = Lanes;
    type V = __m256;

    #[inline(always)]
    fn splat(number: f32) -> __m256 {
        detected!(_mm256_set1_ps(number))
    }
    #[inline(always)]
    fn load(numbers: &Lanes) -> __m256 {
        detected!(_mm256_loadu_ps(numbers.as_ptr()))
    }
    #[inline(always)]
    fn store(x: __m256, numbers: &mut Lanes) {
        detected!(_mm256_storeu_ps(numbers.as_mut_ptr(), x))
    }
    #[inline(always)]
    fn add(a: __m256, b: __m256) -> __m256 {
        detected!(_mm256_add_ps(a, b))
    }
    #[inline(always)]
    fn sub(a: __m256, b: __m256) -> __m256 {
        detected!(_mm256_sub_ps(a, b))
    }
    #[inline(always)]
    fn mul(a: __m256, b: __m256) -> __m256 {
        detected!(_mm256_mul_ps(a, b))
    }
    #[inline(always)]
    fn div(a: __m256, b: __m256) -> __m256 {
        detected!(_mm256_div_ps(a, b))
    }
    #[inline(always)]
    fn mul_add(a: __m256, b: __m256, c: __m256) -> __m256 {
        detected!(_mm256_fmadd_ps(a, b, c))
    }
    #[inline(always)]
    fn sqrt(x: __m256) -> __m256 {
        detected!(_mm256_sqrt_ps(x))
    }
    #[inline(always)]
    fn max(bound: __m256, x: __m256) -> __m256 {
        detected!(_mm256_max_ps(bound, x))
    }
    #[inline(always)]
    fn min(bound: __m256, x: __m256) -> __m256 {
        detected!(_mm256_min_ps(bound, x))
    }
    #[inline(always)]
    fn select_if_less(a: __m256, b: __m256, then: __m256) -> __m256 {
        detected!(_mm256_and_ps(_mm256_cmp_ps::<_CMP_LT_OQ>(a, b), then))
    }
    #[inline(always)]
    fn select_less(a: __m256, b: __m256, then: __m256, otherwise: __m256) -> __m256 {
        detected!(_mm256_blendv_ps(otherwise, then, _mm256_cmp_ps::<_CMP_LT_OQ>(a, b)))
    }
    #[inline(always)]
    fn any_above_zero(x: __m256) -> bool {
        detected!(_mm256_movemask_ps(_mm256_cmp_ps::<_CMP_NLE_UQ>(x, _mm256_setzero_ps())) != 0)
    }
    #[inline(always)]
    fn any_below_zero(x: __m256) -> bool {
        detected!(_mm256_movemask_ps(_mm256_cmp_ps::<_CMP_NGE_UQ>(x, _mm256_setzero_ps())) != 0)
    }
    #[inline(always)]
    fn below_zero(x: __m256) -> u32 {
        detected!(_mm256_movemask_ps(_mm256_cmp_ps::<_CMP_NGE_UQ>(x, _mm256_setzero_ps())) as u32)
    }
    #[inline(always)]
    fn power_of_two(shifted: __m256) -> __m256 {
        detected!({
            let bits = _mm256_slli_epi32::<23>(_mm256_castps_si256(shifted));
            _mm256_castsi256_ps(_mm256_add_epi32(bits, _mm256_set1_epi32(0x3f80_0000)))
        })
    }
}

/// In what blocks stand.
pub(crate) trait Width: Copy {
    type Blocks: SimdBlock;
    const HAS_32_REGISTERS: bool;
}

impl Width for TwoRegisters {
    type Blocks = Twice<Avx2<Self>>;
    const HAS_32_REGISTERS: bool = false;
}

impl Width for OneRegister {
    type Blocks = Avx512;
    const HAS_32_REGISTERS: bool = true;
}

impl<W: Width> Arithmetic for Avx2<W> {
    type Blocks = W::Blocks;
    const HAS_32_REGISTERS: bool = W::HAS_32_REGISTERS;

    #[inline(always)]
    fn prefetch(numbers: &[f32]) {
        const LINE: usize = 16;
        for line in numbers.chunks(LINE) {
            detected!(_mm_prefetch::<_MM_HINT_T1>(line.as_ptr().cast()));
        }
    }
    #[inline(always)]
    fn mul_add_one(a: f32, b: f32, c: f32) -> f32 {
        a.mul_add(b, c)
    }
}
