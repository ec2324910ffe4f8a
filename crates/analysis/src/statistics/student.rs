//! Quantiles of Student's t distribution, for intervals from few numbers.

use std::f64::consts::FRAC_PI_2;

/// The 97.5 % quantile of the normal distribution.
pub(crate) const NORMAL: f64 = 1.959_963_984_540_054;

/// Probability outside both ends of the interval together.
const TAILS: f64 = 0.05;

/// The 97.5 % quantile of Student's t distribution, for any number of degrees of freedom of at least 1, integer or not.
/// Hill's algorithm ("Student's t-quantiles", Communications of the ACM 13, 1970) is accurate to five decimals, but
/// only roughly between 1 and 2 degrees.
pub(crate) fn student_quantile(degrees: f64) -> f64 {
    if degrees <= 1.0 {
        return 1.0 / (TAILS * FRAC_PI_2).tan();
    }
    if degrees == 2.0 {
        return (2.0 / (TAILS * (2.0 - TAILS)) - 2.0).sqrt();
    }
    let a = 1.0 / (degrees - 0.5);
    let b = 48.0 / (a * a);
    let c = ((20_700.0 * a / b - 98.0) * a - 16.0) * a + 96.36;
    let d = ((94.5 / (b + c) - 3.0) / b + 1.0) * (a * FRAC_PI_2).sqrt() * degrees;
    let y = (d * TAILS).powf(2.0 / degrees);
    let square = if y > 0.05 + a {
        // Close to the normal distribution: an expansion around its quantile.
        let x = -NORMAL;
        let c = if degrees < 5.0 { c + 0.3 * (degrees - 4.5) * (x + 0.6) } else { c };
        let c = (((0.05 * d * x - 5.0) * x - 7.0) * x - 2.0) * x + b + c;
        let y = x * x;
        let y = (((((0.4 * y + 6.3) * y + 36.0) * y + 94.5) / c - y - 3.0) / b + 1.0) * x;
        (a * y * y).exp_m1()
    } else {
        let inner = ((degrees + 6.0) / (degrees * y) - 0.089 * d - 0.822) * (degrees + 2.0) * 3.0;
        ((1.0 / inner + 0.5 / (degrees + 4.0)) * y - 1.0) * (degrees + 1.0) / (degrees + 2.0) + 1.0 / y
    };
    (degrees * square).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        #[track_caller]
        fn check(degrees: f64, wanted: f64) {
            let found = student_quantile(degrees);
            assert!((found - wanted).abs() < 5e-6, "{degrees} degrees: {found}");
        }
        for (degrees, wanted) in [
            (1.0, 12.706_205),
            (2.0, 4.302_653),
            (3.0, 3.182_446),
            (4.0, 2.776_445),
            (5.0, 2.570_582),
            (6.0, 2.446_912),
            (8.0, 2.306_004),
            (10.0, 2.228_139),
            (14.0, 2.144_787),
            (20.0, 2.085_963),
            (21.0, 2.079_614),
            (24.0, 2.063_899),
            (30.0, 2.042_272),
            (40.0, 2.021_075),
            (60.0, 2.000_298),
            (120.0, 1.979_930),
            (1000.0, 1.962_339),
            (1e9, 1.959_964),
        ] {
            check(degrees, wanted);
        }
    }

    /// The quantile falls with the degrees of freedom, also between integers.
    #[test]
    fn more_degrees_are_narrower() {
        let quantiles: Vec<f64> =
            (10..400).map(|tenths| student_quantile(f64::from(tenths) / 10.0)).collect();
        assert!(quantiles.is_sorted_by(|wider, narrower| wider > narrower));
    }
}
