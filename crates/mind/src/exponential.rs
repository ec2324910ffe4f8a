//! exp, the logistic function and tanh of eight numbers, to a few units in the last place.

use crate::instructions::Arithmetic;
use crate::lanes::{Lanes, each};

/// e^x. Below -87 and above 88 it stays at what f32 can hold; NaN stays NaN.
#[inline(always)]
pub(crate) fn exp<A: Arithmetic>(x: &Lanes) -> Lanes {
    each(|i| exp_one::<A>(x[i]))
}

/// 1 / (1 + e^-x).
#[inline(always)]
pub(crate) fn sigmoid<A: Arithmetic>(x: &Lanes) -> Lanes {
    each(|i| 1.0 / (1.0 + exp_one::<A>(-x[i])))
}

/// tanh x.
#[inline(always)]
pub(crate) fn tanh<A: Arithmetic>(x: &Lanes) -> Lanes {
    each(|i| {
        let z = x[i] * x[i];
        // Near 0 the formula below would lose digits. Coefficients: Cephes, `tanhf`.
        let mut p = A::mul_add(-5.704_988_7e-3, z, 2.063_908_9e-2);
        p = A::mul_add(p, z, -5.373_971_6e-2);
        p = A::mul_add(p, z, 1.333_144_2e-1);
        p = A::mul_add(p, z, -3.333_328_2e-1);
        let near = A::mul_add(p * z, x[i], x[i]);
        let far = 1.0 - 2.0 / (exp_one::<A>(2.0 * x[i]) + 1.0);
        if x[i].abs() < 0.625 { near } else { far }
    })
}

/// Cephes' `expf`: e^x = 2^n e^r, with |r| <= ln 2 / 2.
#[inline(always)]
fn exp_one<A: Arithmetic>(x: f32) -> f32 {
    // Adding this and taking it away again rounds to a whole number, which then stands in the low bits.
    const ROUNDER: f32 = 12_582_912.0;
    let x = if x < -87.0 { -87.0 } else { x };
    let x = if x > 88.0 { 88.0 } else { x };
    let shifted = A::mul_add(x, std::f32::consts::LOG2_E, ROUNDER);
    let n = shifted - ROUNDER;
    let r = A::mul_add(n, -0.693_359_4, x);
    let r = A::mul_add(n, 2.121_944_4e-4, r);
    let mut p = A::mul_add(1.987_569_1e-4, r, 1.398_199_9e-3);
    p = A::mul_add(p, r, 8.333_452e-3);
    p = A::mul_add(p, r, 4.166_579_6e-2);
    p = A::mul_add(p, r, 1.666_666_5e-1);
    p = A::mul_add(p, r, 0.5);
    let y = A::mul_add(p * r, r, r) + 1.0;
    let power = f32::from_bits((shifted.to_bits() << 23).wrapping_add(0x3f80_0000));
    y * power
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instructions::{Fused, Separate};

    #[track_caller]
    fn check<A: Arithmetic>(name: &str, f: fn(&Lanes) -> Lanes, truth: fn(f64) -> f64, relative: f64) {
        for idx in -40_000..=40_000 {
            let x = idx as f32 / 1000.0;
            let (found, wanted) = (f64::from(f(&[x; 8])[3]), truth(f64::from(x)));
            assert!((found - wanted).abs() <= relative * wanted.abs(), "{name}({x}) is {wanted}, not {found}");
        }
        assert!(f(&[f32::NAN; 8])[0].is_nan(), "{name}(NaN)");
    }

    #[test]
    fn they_are_what_they_are_called() {
        fn check_all<A: Arithmetic>() {
            check::<A>("exp", exp::<A>, f64::exp, 3e-7);
            check::<A>("sigmoid", sigmoid::<A>, |x| 1.0 / (1.0 + (-x).exp()), 4e-7);
            check::<A>("tanh", tanh::<A>, f64::tanh, 4e-7);
        }
        check_all::<Fused>();
        check_all::<Separate>();
    }

    #[test]
    fn far_out_they_stay_finite() {
        for x in [-1e30, -200.0, 200.0, 1e30] {
            assert!(exp::<Fused>(&[x; 8])[0].is_finite());
            assert_eq!(tanh::<Fused>(&[x; 8])[0], x.signum());
            let wanted = if x > 0.0 { 1.0 } else { 0.0 };
            assert!((sigmoid::<Fused>(&[x; 8])[0] - wanted).abs() < 1e-30);
        }
    }
}
