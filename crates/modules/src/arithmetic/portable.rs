//! Eight numbers as an array, for any machine.

use crate::arithmetic::twice::Twice;
use crate::arithmetic::{Arithmetic, Lanes, SimdVector};

/// Plain arithmetic. Products and sums are rounded apart, but for machines that always can fuse them: elsewhere
/// fusing costs a hundred times as much.
#[derive(Clone, Copy)]
pub(crate) struct Portable;

#[inline(always)]
fn each(f: impl Fn(usize) -> f32) -> Lanes {
    std::array::from_fn(f)
}

impl SimdVector for Portable {
    type Memory = Lanes;
    type V = Lanes;

    #[inline(always)]
    fn splat(number: f32) -> Lanes {
        [number; 8]
    }
    #[inline(always)]
    fn load(numbers: &Lanes) -> Lanes {
        *numbers
    }
    #[inline(always)]
    fn store(x: Lanes, numbers: &mut Lanes) {
        *numbers = x;
    }
    #[inline(always)]
    fn add(a: Lanes, b: Lanes) -> Lanes {
        each(|i| a[i] + b[i])
    }
    #[inline(always)]
    fn sub(a: Lanes, b: Lanes) -> Lanes {
        each(|i| a[i] - b[i])
    }
    #[inline(always)]
    fn mul(a: Lanes, b: Lanes) -> Lanes {
        each(|i| a[i] * b[i])
    }
    #[inline(always)]
    fn div(a: Lanes, b: Lanes) -> Lanes {
        each(|i| a[i] / b[i])
    }
    #[inline(always)]
    fn mul_add(a: Lanes, b: Lanes, c: Lanes) -> Lanes {
        each(|i| Self::mul_add_one(a[i], b[i], c[i]))
    }
    #[inline(always)]
    fn sqrt(x: Lanes) -> Lanes {
        each(|i| x[i].sqrt())
    }
    #[inline(always)]
    fn max(bound: Lanes, x: Lanes) -> Lanes {
        each(|i| if bound[i] > x[i] { bound[i] } else { x[i] })
    }
    #[inline(always)]
    fn min(bound: Lanes, x: Lanes) -> Lanes {
        each(|i| if bound[i] < x[i] { bound[i] } else { x[i] })
    }
    #[inline(always)]
    fn select_if_less(a: Lanes, b: Lanes, then: Lanes) -> Lanes {
        each(|i| if a[i] < b[i] { then[i] } else { 0.0 })
    }
    #[inline(always)]
    fn select_less(a: Lanes, b: Lanes, then: Lanes, otherwise: Lanes) -> Lanes {
        each(|i| if a[i] < b[i] { then[i] } else { otherwise[i] })
    }
    #[inline(always)]
    fn any_above_zero(x: Lanes) -> bool {
        x.iter().fold(false, |any, x| any | (*x > 0.0 || x.is_nan()))
    }
    #[inline(always)]
    fn any_below_zero(x: Lanes) -> bool {
        x.iter().fold(false, |any, x| any | (*x < 0.0 || x.is_nan()))
    }
    #[inline(always)]
    fn below_zero(x: Lanes) -> u32 {
        x.iter().rev().fold(0, |bits, x| 2 * bits + u32::from(*x < 0.0 || x.is_nan()))
    }
    #[inline(always)]
    fn power_of_two(shifted: Lanes) -> Lanes {
        each(|i| f32::from_bits((shifted[i].to_bits() << 23).wrapping_add(0x3f80_0000)))
    }
}

impl Arithmetic for Portable {
    type Blocks = Twice<Self>;
    const HAS_32_REGISTERS: bool = false;

    #[inline(always)]
    fn prefetch(_numbers: &[f32]) {}
    #[inline(always)]
    fn mul_add_one(a: f32, b: f32, c: f32) -> f32 {
        if cfg!(target_arch = "aarch64") { a.mul_add(b, c) } else { a * b + c }
    }
}
