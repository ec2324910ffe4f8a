//! How much bootstrap intervals of means must be widened if there are few runs.
//!
//! Departs from rliable: its percentile intervals of means are too narrow where a task has few seeds. First, the
//! variance of a resampled mean is too small by the factor `(n - 1) / n`. Second, this variance is itself estimated
//! from few seeds, for which Student's distribution accounts. With three seeds of one task, the percentile interval
//! ranges from the lowest to the highest seed and contains the true mean in only about 75 of 100 studies.

use super::student::{NORMAL, student_quantile};

/// The factor for deviations of a resampled mean of `n` numbers: `sqrt(n / (n - 1))`, times Student's quantile divided
/// by the normal one. 1 for a single number, whose spread is unknown.
pub fn widening(n: usize) -> f64 {
    match n.checked_sub(1) {
        None | Some(0) => 1.0,
        Some(degrees) => spread(n) * student_quantile(degrees as f64) / NORMAL,
    }
}

/// The same for a mean over strata, one factor per stratum. Degrees of freedom are Welch and Satterthwaite's: if one
/// task varies far more than the others, they are close to those of its few seeds alone. Each stratum has at least two
/// numbers.
pub(crate) fn widenings(strata: &[Vec<f64>]) -> Vec<f64> {
    let square = |numbers: &Vec<f64>| {
        let (n, mean) = (numbers.len() as f64, numbers.iter().sum::<f64>() / numbers.len() as f64);
        numbers.iter().map(|number| (number - mean).powi(2)).sum::<f64>() / ((n - 1.0) * n)
    };
    let squares: Vec<f64> = strata.iter().map(square).collect();
    // Divided by the largest, so that squares of squares neither underflow nor overflow.
    let largest = squares.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let shares = || squares.iter().map(|square| square / largest).zip(strata);
    let sum: f64 = shares().map(|(share, _)| share).sum();
    let degrees =
        sum * sum / shares().map(|(share, numbers)| share * share / (numbers.len() - 1) as f64).sum::<f64>();
    // If nothing varies, there is nothing to widen.
    let of_degrees = if degrees.is_finite() { student_quantile(degrees) / NORMAL } else { 1.0 };
    strata.iter().map(|numbers| spread(numbers.len()) * of_degrees).collect()
}

fn spread(n: usize) -> f64 {
    (n as f64 / (n as f64 - 1.0)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_numbers_need_more() {
        #[track_caller]
        fn check(found: f64, wanted: f64) {
            assert!((found - wanted).abs() < 2e-3, "{found}");
        }
        check(widening(1), 1.0);
        check(widening(3), 1.5_f64.sqrt() * 4.302_653 / NORMAL);
        check(widening(1000), 1.001_716);
        // One task has the degrees of a single sample; twelve that vary equally have the sum; if only one varies, its
        // own.
        let task = |spread: f64| vec![-spread, 0.0, spread];
        check(widenings(&[task(2.0)])[0], widening(3));
        check(widenings(&vec![task(0.1); 12])[0], 1.5_f64.sqrt() * 2.063_899 / NORMAL);
        let mut uneven = vec![task(1e-6); 11];
        uneven.push(task(1.0));
        check(widenings(&uneven)[11], widening(3));
        check(widenings(&[task(0.0), task(0.0)])[0], 1.5_f64.sqrt());
        check(widenings(&[task(1e-200), task(1e-200)])[0], 1.5_f64.sqrt());
        check(widenings(&[task(1.0), vec![0.0, 0.0]])[1], 2_f64.sqrt() * 4.302_653 / NORMAL);
    }
}
