//! Vectors of eight floats in AVX2 registers, with fused multiply-adds.
//!
//! The compiler vectorizes simple loops by itself, but not reliably those that matter most here: a kernel with twelve
//! accumulators in registers is five times slower when they are spilled or transposed.
#![allow(unsafe_code)]

use crate::arithmetic::avx512::Avx512;
use crate::arithmetic::twice::Twice;
use crate::arithmetic::{Arithmetic, Lanes, SimdBlock, SimdVector, inlined};
use std::arch::x86_64::*;
use std::marker::PhantomData;

/// AVX2 and FMA; `W` is the representation of a block. Only `Instructions` runs kernels on it, after detecting both.
#[derive(Clone, Copy)]
pub(crate) struct Avx2<W>(PhantomData<W>);

/// A block is two AVX2 registers.
#[derive(Clone, Copy)]
pub(crate) struct TwoRegisters;

/// A block is one AVX-512 register; chosen only where AVX-512 was detected.
#[derive(Clone, Copy)]
pub(crate) struct OneRegister;

/// The safety argument shared by all methods.
macro_rules! detected {
    ($($work:tt)*) => {
        // SAFETY: kernels on `Avx2` are run by `Instructions` alone, after AVX2 and FMA were detected. Loads and stores
        // go through references to eight floats.
        unsafe { $($work)* }
    };
}

impl<W: Copy> SimdVector for Avx2<W> {
    type Memory = Lanes;
    type V = __m256;

    inlined! {
        fn splat(value: f32) -> __m256 = detected!(_mm256_set1_ps(value));
        fn load(values: &Lanes) -> __m256 = detected!(_mm256_loadu_ps(values.as_ptr()));
        fn store(x: __m256, out: &mut Lanes) -> () = detected!(_mm256_storeu_ps(out.as_mut_ptr(), x));
        fn add(a: __m256, b: __m256) -> __m256 = detected!(_mm256_add_ps(a, b));
        fn sub(a: __m256, b: __m256) -> __m256 = detected!(_mm256_sub_ps(a, b));
        fn mul(a: __m256, b: __m256) -> __m256 = detected!(_mm256_mul_ps(a, b));
        fn div(a: __m256, b: __m256) -> __m256 = detected!(_mm256_div_ps(a, b));
        fn mul_add(a: __m256, b: __m256, c: __m256) -> __m256 = detected!(_mm256_fmadd_ps(a, b, c));
        fn sqrt(x: __m256) -> __m256 = detected!(_mm256_sqrt_ps(x));
        fn max(bound: __m256, x: __m256) -> __m256 = detected!(_mm256_max_ps(bound, x));
        fn min(bound: __m256, x: __m256) -> __m256 = detected!(_mm256_min_ps(bound, x));
        fn select_if_less(a: __m256, b: __m256, then: __m256) -> __m256 =
            detected!(_mm256_and_ps(_mm256_cmp_ps::<_CMP_LT_OQ>(a, b), then));
        fn select_less(a: __m256, b: __m256, then: __m256, otherwise: __m256) -> __m256 =
            detected!(_mm256_blendv_ps(otherwise, then, _mm256_cmp_ps::<_CMP_LT_OQ>(a, b)));
        fn any_above_zero(x: __m256) -> bool =
            detected!(_mm256_movemask_ps(_mm256_cmp_ps::<_CMP_NLE_UQ>(x, _mm256_setzero_ps())) != 0);
        fn any_below_zero(x: __m256) -> bool = Self::below_zero(x) != 0;
        fn below_zero(x: __m256) -> u32 =
            detected!(_mm256_movemask_ps(_mm256_cmp_ps::<_CMP_NGE_UQ>(x, _mm256_setzero_ps())) as u32);
        fn power_of_two(shifted: __m256) -> __m256 = detected!({
            let bits = _mm256_slli_epi32::<23>(_mm256_castps_si256(shifted));
            _mm256_castsi256_ps(_mm256_add_epi32(bits, _mm256_set1_epi32(0x3f80_0000)))
        });
    }
}

/// The representation of a block.
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
    fn prefetch(values: &[f32]) {
        const LINE: usize = 16;
        for line in values.chunks(LINE) {
            detected!(_mm_prefetch::<_MM_HINT_T1>(line.as_ptr().cast()));
        }
    }
    #[inline(always)]
    fn mul_add_one(a: f32, b: f32, c: f32) -> f32 {
        a.mul_add(b, c)
    }
}
