//! Blocks of sixteen floats in AVX-512 registers: half the instructions of two AVX2 registers, the same bits.
#![allow(unsafe_code)]

use crate::arithmetic::{Block, Lanes, SimdBlock, SimdVector, inlined};
use std::arch::x86_64::*;

/// AVX-512. Only `Instructions` runs kernels on it, after detecting it.
#[derive(Clone, Copy)]
pub(crate) struct Avx512;

/// The safety argument shared by all methods.
macro_rules! detected {
    ($($work:tt)*) => {
        // SAFETY: kernels on `Avx512` are run by `Instructions` alone, after AVX-512F and AVX-512DQ were detected. Loads
        // and stores go through references to as many floats as they access.
        unsafe { $($work)* }
    };
}

impl SimdVector for Avx512 {
    type Memory = Block;
    type V = __m512;

    inlined! {
        fn splat(value: f32) -> __m512 = detected!(_mm512_set1_ps(value));
        fn load(values: &Block) -> __m512 = detected!(_mm512_loadu_ps(values.as_ptr()));
        fn store(x: __m512, out: &mut Block) -> () = detected!(_mm512_storeu_ps(out.as_mut_ptr(), x));
        fn add(a: __m512, b: __m512) -> __m512 = detected!(_mm512_add_ps(a, b));
        fn sub(a: __m512, b: __m512) -> __m512 = detected!(_mm512_sub_ps(a, b));
        fn mul(a: __m512, b: __m512) -> __m512 = detected!(_mm512_mul_ps(a, b));
        fn div(a: __m512, b: __m512) -> __m512 = detected!(_mm512_div_ps(a, b));
        fn mul_add(a: __m512, b: __m512, c: __m512) -> __m512 = detected!(_mm512_fmadd_ps(a, b, c));
        fn sqrt(x: __m512) -> __m512 = detected!(_mm512_sqrt_ps(x));
        fn max(bound: __m512, x: __m512) -> __m512 = detected!(_mm512_max_ps(bound, x));
        fn min(bound: __m512, x: __m512) -> __m512 = detected!(_mm512_min_ps(bound, x));
        fn select_if_less(a: __m512, b: __m512, then: __m512) -> __m512 =
            detected!(_mm512_maskz_mov_ps(_mm512_cmp_ps_mask::<_CMP_LT_OQ>(a, b), then));
        fn select_less(a: __m512, b: __m512, then: __m512, otherwise: __m512) -> __m512 =
            detected!(_mm512_mask_blend_ps(_mm512_cmp_ps_mask::<_CMP_LT_OQ>(a, b), otherwise, then));
        fn any_above_zero(x: __m512) -> bool =
            detected!(_mm512_cmp_ps_mask::<_CMP_NLE_UQ>(x, _mm512_setzero_ps()) != 0);
        fn any_below_zero(x: __m512) -> bool = Self::below_zero(x) != 0;
        fn below_zero(x: __m512) -> u32 =
            detected!(u32::from(_mm512_cmp_ps_mask::<_CMP_NGE_UQ>(x, _mm512_setzero_ps())));
        fn power_of_two(shifted: __m512) -> __m512 = detected!({
            let bits = _mm512_slli_epi32::<23>(_mm512_castps_si512(shifted));
            _mm512_castsi512_ps(_mm512_add_epi32(bits, _mm512_set1_epi32(0x3f80_0000)))
        });
    }
}

impl SimdBlock for Avx512 {
    #[inline(always)]
    fn load_two(low: &Lanes, high: &Lanes) -> __m512 {
        detected!({
            let low = _mm512_castps256_ps512(_mm256_loadu_ps(low.as_ptr()));
            _mm512_insertf32x8::<1>(low, _mm256_loadu_ps(high.as_ptr()))
        })
    }
    #[inline(always)]
    fn load_twice(values: &Lanes) -> __m512 {
        detected!(_mm512_broadcast_f32x8(_mm256_loadu_ps(values.as_ptr())))
    }
    /// In the order of `sum_of_lanes`: lanes four apart, two apart, then neighbours.
    #[inline(always)]
    fn sums(x: __m512) -> [f32; 2] {
        detected!({
            let x = _mm512_add_ps(x, _mm512_shuffle_f32x4::<0b10_11_00_01>(x, x));
            let x = _mm512_add_ps(x, _mm512_permute_ps::<0b01_00_11_10>(x));
            let x = _mm512_add_ps(x, _mm512_permute_ps::<0b10_11_00_01>(x));
            [_mm512_cvtss_f32(x), _mm256_cvtss_f32(_mm512_extractf32x8_ps::<1>(x))]
        })
    }
    /// The same additions for eight blocks at once: each step joins the halves of two registers in one.
    #[inline(always)]
    fn sums_of_eight(x: [__m512; 8]) -> Lanes {
        detected!({
            // Low plus high eight of two blocks.
            let pair = |a: __m512, b: __m512| {
                _mm512_add_ps(
                    _mm512_shuffle_f32x4::<0b01_00_01_00>(a, b),
                    _mm512_shuffle_f32x4::<0b11_10_11_10>(a, b),
                )
            };
            // Lanes four apart of two pairs.
            let four = |a: __m512, b: __m512| {
                _mm512_add_ps(
                    _mm512_shuffle_f32x4::<0b10_00_10_00>(a, b),
                    _mm512_shuffle_f32x4::<0b11_01_11_01>(a, b),
                )
            };
            let low = four(pair(x[0], x[1]), pair(x[2], x[3]));
            let high = four(pair(x[4], x[5]), pair(x[6], x[7]));
            let twos = _mm512_add_ps(
                _mm512_shuffle_ps::<0b01_00_01_00>(low, high),
                _mm512_shuffle_ps::<0b11_10_11_10>(low, high),
            );
            let sums = _mm512_add_ps(twos, _mm512_permute_ps::<0b10_11_00_01>(twos));
            // In every four lanes, the first is a sum of `low`, the third of `high`.
            let order = _mm512_setr_epi32(0, 4, 8, 12, 2, 6, 10, 14, 0, 0, 0, 0, 0, 0, 0, 0);
            let mut out = [0.0; 8];
            let ordered = _mm512_castps512_ps256(_mm512_permutexvar_ps(order, sums));
            _mm256_storeu_ps(out.as_mut_ptr(), ordered);
            out
        })
    }
}
