//! Sixteen numbers as one register of AVX-512, products and sums fused: half as many instructions for a block, the same
//! bits.
#![allow(unsafe_code)]

use crate::arithmetic::{Block, Lanes, SimdBlock, SimdVector};
use std::arch::x86_64::*;

/// AVX-512. Only `Instructions` runs loops on it, and only where it was detected.
#[derive(Clone, Copy)]
pub(crate) struct Avx512;

/// The one thing that all methods rely on.
macro_rules! detected {
    ($($work:tt)*) => {
        // SAFETY: loops on `Avx512` are run by `Instructions` alone, after AVX-512F and AVX-512DQ were detected. Loads and stores go
        // through references to as many numbers as they take.
        unsafe { $($work)* }
    };
}

impl SimdVector for Avx512 {
    type Memory = Block;
    type V = __m512;

    #[inline(always)]
    fn splat(number: f32) -> __m512 {
        detected!(_mm512_set1_ps(number))
    }
    #[inline(always)]
    fn load(numbers: &Block) -> __m512 {
        detected!(_mm512_loadu_ps(numbers.as_ptr()))
    }
    #[inline(always)]
    fn store(x: __m512, numbers: &mut Block) {
        detected!(_mm512_storeu_ps(numbers.as_mut_ptr(), x))
    }
    #[inline(always)]
    fn add(a: __m512, b: __m512) -> __m512 {
        detected!(_mm512_add_ps(a, b))
    }
    #[inline(always)]
    fn sub(a: __m512, b: __m512) -> __m512 {
        detected!(_mm512_sub_ps(a, b))
    }
    #[inline(always)]
    fn mul(a: __m512, b: __m512) -> __m512 {
        detected!(_mm512_mul_ps(a, b))
    }
    #[inline(always)]
    fn div(a: __m512, b: __m512) -> __m512 {
        detected!(_mm512_div_ps(a, b))
    }
    #[inline(always)]
    fn mul_add(a: __m512, b: __m512, c: __m512) -> __m512 {
        detected!(_mm512_fmadd_ps(a, b, c))
    }
    #[inline(always)]
    fn sqrt(x: __m512) -> __m512 {
        detected!(_mm512_sqrt_ps(x))
    }
    #[inline(always)]
    fn max(bound: __m512, x: __m512) -> __m512 {
        detected!(_mm512_max_ps(bound, x))
    }
    #[inline(always)]
    fn min(bound: __m512, x: __m512) -> __m512 {
        detected!(_mm512_min_ps(bound, x))
    }
    #[inline(always)]
    fn select_if_less(a: __m512, b: __m512, then: __m512) -> __m512 {
        detected!(_mm512_maskz_mov_ps(_mm512_cmp_ps_mask::<_CMP_LT_OQ>(a, b), then))
    }
    #[inline(always)]
    fn select_less(a: __m512, b: __m512, then: __m512, otherwise: __m512) -> __m512 {
        detected!(_mm512_mask_blend_ps(_mm512_cmp_ps_mask::<_CMP_LT_OQ>(a, b), otherwise, then))
    }
    #[inline(always)]
    fn any_above_zero(x: __m512) -> bool {
        detected!(_mm512_cmp_ps_mask::<_CMP_NLE_UQ>(x, _mm512_setzero_ps()) != 0)
    }
    #[inline(always)]
    fn any_below_zero(x: __m512) -> bool {
        detected!(_mm512_cmp_ps_mask::<_CMP_NGE_UQ>(x, _mm512_setzero_ps()) != 0)
    }
    #[inline(always)]
    fn below_zero(x: __m512) -> u32 {
        detected!(u32::from(_mm512_cmp_ps_mask::<_CMP_NGE_UQ>(x, _mm512_setzero_ps())))
    }
    #[inline(always)]
    fn power_of_two(shifted: __m512) -> __m512 {
        detected!({
            let bits = _mm512_slli_epi32::<23>(_mm512_castps_si512(shifted));
            _mm512_castsi512_ps(_mm512_add_epi32(bits, _mm512_set1_epi32(0x3f80_0000)))
        })
    }
}

impl SimdBlock for Avx512 {
    #[inline(always)]
    fn load_two(one: &Lanes, other: &Lanes) -> __m512 {
        detected!({
            let one = _mm512_castps256_ps512(_mm256_loadu_ps(one.as_ptr()));
            _mm512_insertf32x8::<1>(one, _mm256_loadu_ps(other.as_ptr()))
        })
    }
    #[inline(always)]
    fn load_twice(numbers: &Lanes) -> __m512 {
        detected!(_mm512_broadcast_f32x8(_mm256_loadu_ps(numbers.as_ptr())))
    }
    /// As `sum_of_lanes` does, all at once: fours, then twos, then neighbours.
    #[inline(always)]
    fn sums(x: __m512) -> [f32; 2] {
        detected!({
            let x = _mm512_add_ps(x, _mm512_shuffle_f32x4::<0b10_11_00_01>(x, x));
            let x = _mm512_add_ps(x, _mm512_permute_ps::<0b01_00_11_10>(x));
            let x = _mm512_add_ps(x, _mm512_permute_ps::<0b10_11_00_01>(x));
            [_mm512_cvtss_f32(x), _mm256_cvtss_f32(_mm512_extractf32x8_ps::<1>(x))]
        })
    }
    /// The same sums, all eight in one: at every step halves of two registers stand where those of one did.
    #[inline(always)]
    fn sums_of_eight(x: [__m512; 8]) -> Lanes {
        detected!({
            // Low and high eight of a pair.
            let pair = |a: __m512, b: __m512| {
                _mm512_add_ps(
                    _mm512_shuffle_f32x4::<0b01_00_01_00>(a, b),
                    _mm512_shuffle_f32x4::<0b11_10_11_10>(a, b),
                )
            };
            // Fours of two pairs.
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
            // Of every four numbers the first belongs to the lower blocks, the third to the upper ones.
            let order = _mm512_setr_epi32(0, 4, 8, 12, 2, 6, 10, 14, 0, 0, 0, 0, 0, 0, 0, 0);
            let mut numbers = [0.0; 8];
            let ordered = _mm512_castps512_ps256(_mm512_permutexvar_ps(order, sums));
            _mm256_storeu_ps(numbers.as_mut_ptr(), ordered);
            numbers
        })
    }
}
