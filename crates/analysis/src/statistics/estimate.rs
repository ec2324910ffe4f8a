//! A mean with its 95 % interval (Student's or bootstrap), and its comparison with a level.

use super::resampling::{Interval, Resampling, Width};
use super::student::student_quantile;
use super::widening::widening;
use serde::Serialize;
use std::fmt;

/// A mean over seeds, switches or screens, with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    pub value: f64,
    /// `None` for a single number.
    pub interval: Option<Interval>,
    pub n: usize,
}

impl Estimate {
    /// The mean of a sample with Student's interval; `None` if the sample is empty or a number is not finite.
    pub fn of(numbers: &[f64]) -> Option<Self> {
        let value = finite_mean(numbers)?;
        let half = student_half_width(numbers).filter(|half| half.is_finite());
        let interval = half.map(|half| Interval { low: value - half, high: value + half });
        Some(Self { value, interval, n: numbers.len() })
    }

    /// The same with a bootstrap interval. The resamples depend on the order of the numbers: another order changes the
    /// ends of the interval, as another seed does.
    pub fn bootstrapped(numbers: &[f64], resampling: &Resampling) -> Option<Self> {
        let (value, n) = (finite_mean(numbers)?, numbers.len());
        let widening = match resampling.width {
            Width::SmallSample => widening(n),
            Width::Percentile => 1.0,
        };
        let means = resampling.streams().filter(|_| n > 1).map(|mut random| {
            let sum: f64 = (0..n).map(|_| *random.pick(numbers)).sum();
            value + widening * (sum / n as f64 - value)
        });
        Some(Self { value, interval: Interval::of(means.collect()), n })
    }

    pub(crate) fn compare_to(&self, level: f64) -> Relation {
        Relation::of(self.interval, level)
    }
}

/// Half of the width of Student's 95 % interval for the mean of a sample; `None` if there are fewer than two numbers or
/// one is not finite.
pub fn student_half_width(numbers: &[f64]) -> Option<f64> {
    let (mean, n) = (finite_mean(numbers)?, numbers.len());
    (n > 1).then(|| {
        let square = numbers.iter().map(|number| (number - mean).powi(2)).sum::<f64>() / (n - 1) as f64;
        student_quantile((n - 1) as f64) * (square / n as f64).sqrt()
    })
}

fn finite_mean(numbers: &[f64]) -> Option<f64> {
    let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
    // The mean is 0 / 0 for an empty sample, and not finite if one of the numbers is not.
    mean.is_finite().then_some(mean)
}

/// The position of an interval relative to a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Relation {
    Above,
    Below,
    /// It includes the level, or there is no interval.
    Unclear,
}

impl Relation {
    pub fn of(interval: Option<Interval>, level: f64) -> Self {
        match interval {
            Some(Interval { low, .. }) if low > level => Self::Above,
            Some(Interval { high, .. }) if high < level => Self::Below,
            _ => Self::Unclear,
        }
    }
}

impl fmt::Display for Estimate {
    /// `0.412 (0.398 to 0.426)`; with `{:+}`, signed numbers.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_estimate(f, self.value, self.interval)
    }
}

pub(super) fn write_estimate(
    f: &mut fmt::Formatter<'_>,
    value: f64,
    interval: Option<Interval>,
) -> fmt::Result {
    match (f.sign_plus(), interval) {
        (true, Some(Interval { low, high })) => write!(f, "{value:+.3} ({low:+.3} to {high:+.3})"),
        (false, Some(Interval { low, high })) => write!(f, "{value:.3} ({low:.3} to {high:.3})"),
        (true, None) => write!(f, "{value:+.3}"),
        (false, None) => write!(f, "{value:.3}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstream_env::seed::RunSeed;

    #[test]
    fn half_widths_are_students() {
        #[track_caller]
        fn check(numbers: &[f64], wanted: Option<(f64, Option<f64>)>) {
            let found = Estimate::of(numbers);
            assert_eq!(
                found.map(|found| (found.value, found.n)),
                wanted.map(|(mean, _)| (mean, numbers.len()))
            );
            match (student_half_width(numbers), wanted.and_then(|(_, half)| half)) {
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
    fn bootstrapped_intervals_need_two_finite_numbers() {
        let resampling = Resampling::new(RunSeed(1));
        let found = |numbers: &[f64]| Estimate::bootstrapped(numbers, &resampling);
        assert_eq!(found(&[]), None);
        assert_eq!(found(&[1.0, f64::NAN]), None);
        assert_eq!(found(&[0.25]), Some(Estimate { value: 0.25, interval: None, n: 1 }));
        let same = Some(Interval { low: 2.0, high: 2.0 });
        assert_eq!(found(&[2.0, 2.0]), Some(Estimate { value: 2.0, interval: same, n: 2 }));
    }

    #[test]
    fn estimates_are_displayed_with_their_intervals() {
        let estimate = Estimate::of(&[0.4, 0.5, 0.6]).unwrap();
        assert_eq!(estimate.to_string(), "0.500 (0.252 to 0.748)");
        assert_eq!(format!("{estimate:+}"), "+0.500 (+0.252 to +0.748)");
        assert_eq!(Estimate::of(&[0.5]).unwrap().to_string(), "0.500");
        let compared = [0.2, 0.3, 0.8].map(|level| estimate.compare_to(level));
        assert_eq!(compared, [Relation::Above, Relation::Unclear, Relation::Below]);
    }
}
