//! Vectors of eight floats as arrays, for any processor.

use crate::arithmetic::twice::Twice;
use crate::arithmetic::{Arithmetic, Lanes, SimdVector, inlined};

/// Plain arithmetic. Products and sums are rounded separately, except on processors that always have fused multiply-adds:
/// elsewhere, emulating them would be a hundred times slower.
#[derive(Clone, Copy)]
pub(crate) struct Portable;

#[inline(always)]
fn each(f: impl Fn(usize) -> f32) -> Lanes {
    std::array::from_fn(f)
}

impl SimdVector for Portable {
    type Memory = Lanes;
    type V = Lanes;

    inlined! {
        fn splat(value: f32) -> Lanes = [value; 8];
        fn load(values: &Lanes) -> Lanes = *values;
        fn store(x: Lanes, out: &mut Lanes) -> () = *out = x;
        fn add(a: Lanes, b: Lanes) -> Lanes = each(|i| a[i] + b[i]);
        fn sub(a: Lanes, b: Lanes) -> Lanes = each(|i| a[i] - b[i]);
        fn mul(a: Lanes, b: Lanes) -> Lanes = each(|i| a[i] * b[i]);
        fn div(a: Lanes, b: Lanes) -> Lanes = each(|i| a[i] / b[i]);
        fn mul_add(a: Lanes, b: Lanes, c: Lanes) -> Lanes = each(|i| Self::mul_add_one(a[i], b[i], c[i]));
        fn sqrt(x: Lanes) -> Lanes = each(|i| x[i].sqrt());
        fn max(bound: Lanes, x: Lanes) -> Lanes = each(|i| if bound[i] > x[i] { bound[i] } else { x[i] });
        fn min(bound: Lanes, x: Lanes) -> Lanes = each(|i| if bound[i] < x[i] { bound[i] } else { x[i] });
        fn select_if_less(a: Lanes, b: Lanes, then: Lanes) -> Lanes =
            each(|i| if a[i] < b[i] { then[i] } else { 0.0 });
        fn select_less(a: Lanes, b: Lanes, then: Lanes, otherwise: Lanes) -> Lanes =
            each(|i| if a[i] < b[i] { then[i] } else { otherwise[i] });
        fn any_above_zero(x: Lanes) -> bool = x.iter().fold(false, |any, x| any | (*x > 0.0 || x.is_nan()));
        fn any_below_zero(x: Lanes) -> bool = x.iter().fold(false, |any, x| any | (*x < 0.0 || x.is_nan()));
        fn below_zero(x: Lanes) -> u32 =
            x.iter().rev().fold(0, |bits, x| 2 * bits + u32::from(*x < 0.0 || x.is_nan()));
        fn power_of_two(shifted: Lanes) -> Lanes =
            each(|i| f32::from_bits((shifted[i].to_bits() << 23).wrapping_add(0x3f80_0000)));
    }
}

impl Arithmetic for Portable {
    type Blocks = Twice<Self>;
    const HAS_32_REGISTERS: bool = false;

    #[inline(always)]
    fn prefetch(_values: &[f32]) {}
    #[inline(always)]
    fn mul_add_one(a: f32, b: f32, c: f32) -> f32 {
        if cfg!(target_arch = "aarch64") { a.mul_add(b, c) } else { a * b + c }
    }
}
