//! Vectorized exp, logistic function and tanh, accurate to a few units in the last place.

use crate::arithmetic::{Arithmetic, Instructions, Kernel, N_BLOCK, ROUNDER, SimdVector};

/// e^x (Cephes' `expf`): e^x = 2^n e^r, with |r| <= ln 2 / 2. `x` is clamped to [-87, 88], where the result is finite and
/// normal; NaN stays NaN.
#[inline(always)]
pub(crate) fn exp<A: SimdVector>(x: A::V) -> A::V {
    let constant = |number: f32| A::splat(number);
    let x = A::min(constant(88.0), A::max(constant(-87.0), x));
    let shifted = A::mul_add(x, constant(std::f32::consts::LOG2_E), constant(ROUNDER));
    let n = A::sub(shifted, constant(ROUNDER));
    let r = A::mul_add(n, constant(-0.693_359_4), x);
    let r = A::mul_add(n, constant(2.121_944_4e-4), r);
    let coefficients = [1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 0.5];
    let p = coefficients.iter().fold(constant(1.987_569_1e-4), |p, &c| A::mul_add(p, r, constant(c)));
    let y = A::add(A::mul_add(A::mul(p, r), r, r), constant(1.0));
    A::mul(y, A::power_of_two(shifted))
}

/// 1 / (1 + e^-x).
#[inline(always)]
pub(crate) fn sigmoid<A: SimdVector>(x: A::V) -> A::V {
    let one = A::splat(1.0);
    A::div(one, A::add(one, exp::<A>(A::sub(A::zero(), x))))
}

/// tanh x.
#[inline(always)]
pub(crate) fn tanh<A: SimdVector>(x: A::V) -> A::V {
    let one = A::splat(1.0);
    let square = A::mul(x, x);
    // The formula for large x loses digits near 0. Coefficients: Cephes, `tanhf`.
    let coefficients = [2.063_909e-2, -5.373_971_6e-2, 1.333_144_2e-1, -3.333_328e-1];
    let p = coefficients.iter().fold(A::splat(-5.704_988_7e-3), |p, &c| A::mul_add(p, square, A::splat(c)));
    let near = A::mul_add(A::mul(p, square), x, x);
    let far = A::sub(one, A::div(A::splat(2.0), A::add(exp::<A>(A::add(x, x)), one)));
    A::select_less(square, A::splat(0.625 * 0.625), near, far)
}

/// Predicted rewards: the logistic function of `logits`.
pub fn set_sigmoids(instructions: Instructions, logits: &[f32], out: &mut [f32]) {
    instructions.run(Each { x: logits, out, function: Function::Sigmoid });
}

/// `out = exp(factor * (x - shift))`.
pub fn set_exponentials(instructions: Instructions, factor: f32, shift: f32, x: &[f32], out: &mut [f32]) {
    instructions.run(Each { x, out, function: Function::Exponential { factor, shift } });
}

#[derive(Clone, Copy)]
enum Function {
    Sigmoid,
    Exponential { factor: f32, shift: f32 },
}

impl Function {
    #[inline(always)]
    fn apply<A: SimdVector>(self, x: A::V) -> A::V {
        match self {
            Self::Sigmoid => sigmoid::<A>(x),
            Self::Exponential { factor, shift } => {
                exp::<A>(A::mul(A::splat(factor), A::sub(x, A::splat(shift))))
            }
        }
    }
}

struct Each<'a> {
    x: &'a [f32],
    out: &'a mut [f32],
    function: Function,
}

impl Kernel for Each<'_> {
    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let Self { x, out, function } = self;
        let (blocks, rest) = x.as_chunks::<N_BLOCK>();
        let (out_blocks, out_rest) = out[..x.len()].as_chunks_mut::<N_BLOCK>();
        for (x, out) in blocks.iter().zip(out_blocks) {
            A::Blocks::store(function.apply::<A::Blocks>(A::Blocks::load(x)), out);
        }
        if !rest.is_empty() {
            let mut last = [0.0; N_BLOCK];
            last[..rest.len()].copy_from_slice(rest);
            A::Blocks::store(function.apply::<A::Blocks>(A::Blocks::load(&last)), &mut last);
            out_rest.copy_from_slice(&last[..rest.len()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Case<V> = (&'static str, fn(V) -> V, fn(f64) -> f64);

    /// Compares all three functions with f64's over a wide range.
    struct Check;

    impl Kernel for Check {
        #[inline(always)]
        fn run<A: Arithmetic>(self) {
            let of = |f: fn(A::V) -> A::V, x: f32| f64::from(A::stored(f(A::splat(x)))[3]);
            let cases: [Case<A::V>; 3] = [
                ("exp", exp::<A>, f64::exp),
                ("sigmoid", sigmoid::<A>, |x| 1.0 / (1.0 + (-x).exp())),
                ("tanh", tanh::<A>, f64::tanh),
            ];
            for (name, f, truth) in cases {
                for idx in -40_000..=40_000 {
                    let x = idx as f32 / 1000.0;
                    let (found, wanted) = (of(f, x), truth(f64::from(x)));
                    assert!((found - wanted).abs() <= 4e-7 * wanted.abs(), "{name}({x}): {found}, {wanted}");
                }
                assert!(of(f, f32::NAN).is_nan(), "{name}(NaN)");
            }
            for x in [-1e30_f32, -200.0, 200.0, 1e30] {
                assert!(of(exp::<A>, x).is_finite());
                assert_eq!(of(tanh::<A>, x), f64::from(x.signum()));
                assert!((of(sigmoid::<A>, x) - f64::from(u8::from(x > 0.0))).abs() < 1e-30);
            }
        }
    }

    #[test]
    fn any_number_of_logits_is_read() {
        for instructions in Instructions::all() {
            for n in [0, 1, 15, 16, 17, 40] {
                let logits: Vec<f32> = (0..n).map(|idx| idx as f32 / 4.0 - 3.0).collect();
                let mut rewards = vec![-1.0; n];
                set_sigmoids(instructions, &logits, &mut rewards);
                for (reward, logit) in rewards.iter().zip(&logits) {
                    assert!(
                        (reward - 1.0 / (1.0 + (-logit).exp())).abs() < 1e-6,
                        "{n}: {reward} for {logit}"
                    );
                }
            }
        }
    }

    #[test]
    fn results_match_f64() {
        Instructions::all().for_each(|instructions| instructions.run(Check));
    }
}
