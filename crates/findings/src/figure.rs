//! Numbers that never come without an interval, or the reason for none, and without how many runs they are of.

use serde::Serialize;
use std::fmt;
use touchstream_statistics::{Estimate, Interval, SampleSize, student_interval};

/// The ends of a 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Bounds {
    /// The lower one.
    pub low: f64,
    /// The upper one.
    pub high: f64,
}

impl From<Interval> for Bounds {
    fn from(Interval { low, high }: Interval) -> Self {
        Self { low, high }
    }
}

/// A mean over seeds (or switches) with Student's interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// The mean.
    pub value: f64,
    /// 95 %; `None` for one number.
    pub interval: Option<Bounds>,
    /// Of how many numbers.
    pub n: usize,
}

impl Figure {
    /// `None` for no numbers, and where one is not finite.
    pub fn of(numbers: &[f64]) -> Option<Self> {
        let found = student_interval(numbers)?;
        let interval = found.half.filter(|half| half.is_finite());
        let interval = interval.map(|half| Bounds { low: found.mean - half, high: found.mean + half });
        Some(Self { value: found.mean, interval, n: found.n })
    }

    /// Where it stands beside a number.
    pub(crate) fn beside(&self, level: f64) -> Beside {
        Beside::of(self.interval, level)
    }
}

/// A number over tasks and seeds, with a bootstrapped interval: the seeds of each task are resampled. Of means, it is widened for
/// few seeds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Averaged {
    /// The number.
    pub value: f64,
    /// 95 %; `None` where a task has one seed.
    pub interval: Option<Bounds>,
    /// Of how many runs.
    pub n_runs: usize,
    /// Of how many tasks.
    pub n_tasks: usize,
    /// Seeds of the task with the fewest.
    pub fewest_seeds: usize,
    /// Seeds of the task with the most.
    pub most_seeds: usize,
}

impl Averaged {
    pub(crate) fn new(value: f64, interval: Option<Interval>, size: SampleSize) -> Self {
        let SampleSize { n_runs, n_tasks, fewest_seeds, most_seeds } = size;
        Self { value, interval: interval.map(Bounds::from), n_runs, n_tasks, fewest_seeds, most_seeds }
    }

    /// `12 tasks, 3 to 5 seeds each`.
    pub(crate) fn size(&self) -> String {
        format!("{}, {} each", count(self.n_tasks, "task"), seeds(self.fewest_seeds, self.most_seeds))
    }

    /// Where it stands beside a number.
    pub(crate) fn beside(&self, level: f64) -> Beside {
        Beside::of(self.interval, level)
    }
}

impl From<Estimate> for Averaged {
    fn from(Estimate { value, interval, size }: Estimate) -> Self {
        Self::new(value, interval, size)
    }
}

/// What an interval says about a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Beside {
    Above,
    Below,
    /// It holds the level, or there is none.
    CannotTell,
}

impl Beside {
    fn of(interval: Option<Bounds>, level: f64) -> Self {
        match interval {
            Some(Bounds { low, .. }) if low > level => Self::Above,
            Some(Bounds { high, .. }) if high < level => Self::Below,
            _ => Self::CannotTell,
        }
    }
}

impl fmt::Display for Figure {
    /// `0.412 (0.398 to 0.426)`; with `+`, signs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_figure(f, self.value, self.interval)
    }
}

impl fmt::Display for Averaged {
    /// `0.412 (0.398 to 0.426)`; with `+`, signs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_figure(f, self.value, self.interval)
    }
}

fn write_figure(f: &mut fmt::Formatter<'_>, value: f64, interval: Option<Bounds>) -> fmt::Result {
    match (f.sign_plus(), interval) {
        (true, Some(Bounds { low, high })) => write!(f, "{value:+.3} ({low:+.3} to {high:+.3})"),
        (false, Some(Bounds { low, high })) => write!(f, "{value:.3} ({low:.3} to {high:.3})"),
        (true, None) => write!(f, "{value:+.3} (no interval)"),
        (false, None) => write!(f, "{value:.3} (no interval)"),
    }
}

/// `1 task`, `2 tasks`.
pub(crate) fn count(n: usize, what: &str) -> String {
    match (n, what) {
        (1, _) => format!("1 {what}"),
        (_, what) if what.ends_with("switch") => format!("{n} {what}es"),
        _ => format!("{n} {what}s"),
    }
}

/// `3 seeds`, `3 to 5 seeds`.
pub(crate) fn seeds(fewest: usize, most: usize) -> String {
    if fewest == most { count(most, "seed") } else { format!("{fewest} to {most} seeds") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_written_with_their_intervals() {
        let figure = Figure::of(&[0.4, 0.5, 0.6]).unwrap();
        assert_eq!(figure.to_string(), "0.500 (0.252 to 0.748)");
        assert_eq!(format!("{figure:+}"), "+0.500 (+0.252 to +0.748)");
        assert_eq!(Figure::of(&[0.5]).unwrap().to_string(), "0.500 (no interval)");
        assert_eq!((Figure::of(&[]), Figure::of(&[f64::NAN])), (None, None));
        assert_eq!(
            (figure.beside(0.2), figure.beside(0.3), figure.beside(0.8)),
            (Beside::Above, Beside::CannotTell, Beside::Below)
        );
        assert_eq!(
            (count(1, "task"), count(2, "switch"), seeds(3, 5)),
            ("1 task".into(), "2 switches".into(), "3 to 5 seeds".into())
        );
    }
}
