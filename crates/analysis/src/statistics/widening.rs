//! How much wider intervals of few runs must be than what comes out of resamples.
//!
//! Departs from rliable: its percentile intervals of means are too narrow where a task has few seeds. Seeds that are drawn from
//! themselves vary as if their mean were the true one, by `sqrt((n - 1) / n)` too little, and how much they vary is itself
//! known from few of them. Three seeds of one task give an interval from the lowest to the highest seed, which holds the truth in
//! about 75 of 100 studies.

use super::student::{NORMAL, student_quantile};

/// By how much the deviations of a resampled mean of `n` numbers are too small: `sqrt(n / (n - 1))`, times Student's quantile
/// over the normal one. 1 for one number, of which nothing is known.
pub fn widening(n: usize) -> f64 {
    match n.checked_sub(1) {
        None | Some(0) => 1.0,
        Some(degrees) => spread(n) * student_quantile(degrees as f64) / NORMAL,
    }
}

/// The same for a mean over strata, one factor a stratum: degrees of freedom are Welch and Satterthwaite's, so that a task that
/// varies far more than the others counts as the few seeds that it has. None of `strata` has fewer than two numbers.
pub(crate) fn widenings(strata: &[Vec<f64>]) -> Vec<f64> {
    let square = |numbers: &Vec<f64>| {
        let (n, mean) = (numbers.len() as f64, numbers.iter().sum::<f64>() / numbers.len() as f64);
        numbers.iter().map(|number| (number - mean).powi(2)).sum::<f64>() / ((n - 1.0) * n)
    };
    let squares: Vec<f64> = strata.iter().map(square).collect();
    // Of the largest, so that no square of a square gets too small or too large.
    let largest = squares.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let shares = || squares.iter().map(|square| square / largest).zip(strata);
    let sum: f64 = shares().map(|(share, _)| share).sum();
    let degrees =
        sum * sum / shares().map(|(share, numbers)| share * share / (numbers.len() - 1) as f64).sum::<f64>();
    // Where nothing varies, nothing is widened.
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
        // One task is as one sample; twelve that vary alike have all their degrees, and one that varies alone has its own.
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
