//! Eight numbers that are worked on together: one wide register.

use crate::instructions::Arithmetic;

/// How many numbers.
pub(crate) const N_LANES: usize = 8;

/// Eight numbers.
pub(crate) type Lanes = [f32; N_LANES];

pub(crate) const ZERO: Lanes = [0.0; N_LANES];

#[inline(always)]
pub(crate) fn each(f: impl Fn(usize) -> f32) -> Lanes {
    std::array::from_fn(f)
}

/// `a * b + c`.
#[inline(always)]
pub(crate) fn mul_add<A: Arithmetic>(a: f32, b: &Lanes, c: &Lanes) -> Lanes {
    each(|i| A::mul_add(a, b[i], c[i]))
}

/// The sum of all eight, in a fixed order.
#[inline(always)]
pub(crate) fn sum(x: &Lanes) -> f32 {
    ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7]))
}
