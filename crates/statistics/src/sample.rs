//! The mean of one sample, with Student's interval or a bootstrapped one.

use crate::resampling::{Interval, Resampling, Width};
use crate::student::student_quantile;
use crate::widening::widening;

/// A mean over seeds, with Student's 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StudentInterval {
    /// The mean.
    pub mean: f64,
    /// Half of the interval's width; `None` for one seed.
    pub half: Option<f64>,
    /// Seeds.
    pub n: usize,
}

/// The mean of some seeds' numbers and its interval; `None` for none, and where one is not finite.
pub fn student_interval(numbers: &[f64]) -> Option<StudentInterval> {
    let (mean, n) = (finite_mean(numbers)?, numbers.len());
    let half = (n > 1).then(|| {
        let square = numbers.iter().map(|number| (number - mean).powi(2)).sum::<f64>() / (n - 1) as f64;
        student_quantile((n - 1) as f64) * (square / n as f64).sqrt()
    });
    Some(StudentInterval { mean, half, n })
}

/// A mean with its 95 % bootstrap interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BootstrapMean {
    /// The mean.
    pub mean: f64,
    /// `None` for one number.
    pub interval: Option<Interval>,
    /// Numbers.
    pub n: usize,
}

/// The mean of some numbers and its interval; `None` for none, and where one is not finite. Numbers in another order are
/// resampled otherwise: the ends of the interval then differ as they do with another seed.
pub fn bootstrap_mean(numbers: &[f64], resampling: &Resampling) -> Option<BootstrapMean> {
    let (mean, n) = (finite_mean(numbers)?, numbers.len());
    let widening = match resampling.width {
        Width::SmallSample => widening(n),
        Width::Percentile => 1.0,
    };
    let means = resampling.streams().filter(|_| n > 1).map(|mut random| {
        let sum: f64 = (0..n).map(|_| *random.pick(numbers)).sum();
        mean + widening * (sum / n as f64 - mean)
    });
    Some(BootstrapMean { mean, interval: Interval::of(means.collect()), n })
}

fn finite_mean(numbers: &[f64]) -> Option<f64> {
    let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
    // Of nothing it is 0 / 0; and a sum with one number that is not finite is not finite.
    mean.is_finite().then_some(mean)
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstream_env::seed::RunSeed;

    #[test]
    fn intervals_are_students() {
        #[track_caller]
        fn check(numbers: &[f64], wanted: Option<(f64, Option<f64>)>) {
            let found = student_interval(numbers);
            assert_eq!(
                found.map(|found| (found.mean, found.n)),
                wanted.map(|(mean, _)| (mean, numbers.len()))
            );
            match (found.and_then(|found| found.half), wanted.and_then(|(_, half)| half)) {
                (Some(found), Some(wanted)) => assert!((found - wanted).abs() < 1e-5, "{found}"),
                (found, wanted) => assert_eq!(found, wanted),
            }
        }
        check(&[], None);
        check(&[1.0, f64::NAN], None);
        check(&[f64::INFINITY, f64::NEG_INFINITY], None);
        check(&[1.0], Some((1.0, None)));
        check(&[2.0, 2.0], Some((2.0, Some(0.0))));
        check(&[1.0, 2.0, 3.0], Some((2.0, Some(4.302_653 / 3_f64.sqrt()))));
        let many: Vec<f64> = (0..22).map(|idx| f64::from(idx % 2)).collect();
        check(&many, Some((0.5, Some(2.079_614 * (0.25 / 21_f64).sqrt()))));
    }

    #[test]
    fn bootstrapped_ones_need_two_finite_numbers() {
        let resampling = Resampling::new(RunSeed(1));
        let found = |numbers: &[f64]| bootstrap_mean(numbers, &resampling);
        assert_eq!(found(&[]), None);
        assert_eq!(found(&[1.0, f64::NAN]), None);
        assert_eq!(found(&[0.25]), Some(BootstrapMean { mean: 0.25, interval: None, n: 1 }));
        let same = Some(Interval { low: 2.0, high: 2.0 });
        assert_eq!(found(&[2.0, 2.0]), Some(BootstrapMean { mean: 2.0, interval: same, n: 2 }));
    }
}
