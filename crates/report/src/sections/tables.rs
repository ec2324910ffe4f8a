//! Columns, cells and captions that several sections use.

use crate::study::intervals::Mark;
use crate::study::table::{Columns, Table};
use touchstream_analysis::{Estimate, Interval, LeftOut, PooledEstimate};

/// The possible values of a quantity; Student's intervals of few seeds may extend beyond them and are clipped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Possible {
    low: f64,
    high: f64,
}

impl Possible {
    /// Rewards, areas under them, IoU, shares.
    pub const SHARE: Self = Self { low: 0.0, high: 1.0 };
    /// RGain is -1 if the reward is always 0.
    pub const GAIN: Self = Self { low: -1.0, high: f64::INFINITY };
    /// Steps since the start of training.
    pub const STEP: Self = Self { low: 0.0, high: f64::INFINITY };
    /// Differences, without limits.
    pub const ANYTHING: Self = Self { low: f64::NEG_INFINITY, high: f64::INFINITY };

    fn cut(self, Interval { low, high }: Interval) -> (f64, f64) {
        (low.max(self.low), high.min(self.high))
    }
}

/// Note under a table or figure whose intervals are clipped.
pub const CLIPPING_NOTE: &str = "Intervals are clipped to possible values.";

impl<R> Columns<'_, R> {
    /// Columns for a value and both ends of its interval, clipped to possible values.
    pub fn estimate(
        self,
        name: &str,
        label: &str,
        possible: Possible,
        cell: impl Fn(&R) -> Option<Estimate>,
    ) -> Self {
        self.value_and_ends(name, label, |row| {
            cell(row).map(|estimate| (estimate.value, ends_of(&estimate, possible)))
        })
    }

    /// Columns for a value, its interval and its sample size.
    pub fn counted(
        self,
        name: &str,
        label: &str,
        possible: Possible,
        cell: impl Fn(&R) -> Option<Estimate>,
    ) -> Self {
        self.estimate(name, label, possible, &cell)
            .count(&format!("{name}_n"), "n", |row| cell(row).map_or(0, |estimate| estimate.n as u64))
    }

    /// Columns for an average over tasks and its interval.
    pub fn pooled(self, name: &str, label: &str, cell: impl Fn(&R) -> Option<PooledEstimate>) -> Self {
        self.value_and_ends(name, label, |row| {
            cell(row).map(|estimate| (estimate.value, ends(estimate.interval)))
        })
    }

    /// `cell` returns the value and both ends of its interval.
    pub fn value_and_ends(
        self,
        name: &str,
        label: &str,
        cell: impl Fn(&R) -> Option<(f64, Option<(f64, f64)>)>,
    ) -> Self {
        let ends = |row: &R| cell(row)?.1;
        self.number(name, label, |row| Some(cell(row)?.0))
            .number(&format!("{name}_low"), "from", |row| Some(ends(row)?.0))
            .number(&format!("{name}_high"), "to", |row| Some(ends(row)?.1))
    }
}

/// Both ends, in the form that figures take.
pub fn ends(interval: Option<Interval>) -> Option<(f64, f64)> {
    interval.map(|bounds| (bounds.low, bounds.high))
}

/// Both ends, clipped to possible values; `None` for a single number.
pub fn ends_of(figure: &Estimate, possible: Possible) -> Option<(f64, f64)> {
    figure.interval.filter(|_| figure.n > 1).map(|bounds| possible.cut(bounds))
}

/// An estimate in the form that figures draw.
pub fn mark(estimate: &Estimate, possible: Possible) -> Mark {
    Mark {
        value: Some(estimate.value),
        interval: ends_of(estimate, possible),
        n: estimate.n as u64,
        ..Mark::default()
    }
}

/// A table of what is excluded, and why; `None` if nothing is.
pub fn left_out_table(id: &str, left_out: &[LeftOut]) -> Option<Table> {
    let table = Columns::of(left_out)
        .text("what", "what", |one| one.what.clone())
        .text("why", "why", |one| one.why.clone())
        .table(id.to_owned(), "Left out".into(), "Runs that are excluded above, and why.".into());
    (!left_out.is_empty()).then_some(table)
}

/// The number of seeds as text: `n = 3`, or `n = 2 to 5`.
pub fn n_words(ns: impl Iterator<Item = usize>) -> String {
    let ns: Vec<usize> = ns.collect();
    match (ns.iter().min(), ns.iter().max()) {
        (Some(1), Some(1)) => "n = 1 seed".into(),
        (Some(min), Some(max)) if min == max => format!("n = {min} seeds"),
        (Some(min), Some(max)) => format!("n = {min} to {max} seeds"),
        _ => "n = 0".into(),
    }
}

/// Describes the lines of a figure: means over seeds, with or without bands. There is no band for a single seed.
pub fn lines_words(has_bands: bool, ns: impl Iterator<Item = usize> + Clone) -> String {
    let n = n_words(ns.clone());
    match (ns.max(), has_bands) {
        (Some(2..), true) => format!("95 % bootstrap bands over seeds, {n}"),
        (Some(1), _) => "a single seed".into(),
        _ => format!("means over seeds, {n}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_end_where_no_value_can_be() {
        let figure = |low, high, n| Estimate { value: 0.5, interval: Some(Interval { low, high }), n };
        for (figure, possible, wanted) in [
            (figure(-0.2, 1.1, 3), Possible::SHARE, Some((0.0, 1.0))),
            (figure(0.2, 0.8, 3), Possible::SHARE, Some((0.2, 0.8))),
            (figure(-1.1, 2.0, 3), Possible::GAIN, Some((-1.0, 2.0))),
            (figure(-80.0, 2000.0, 3), Possible::STEP, Some((0.0, 2000.0))),
            (figure(-80.0, 2000.0, 3), Possible::ANYTHING, Some((-80.0, 2000.0))),
            // A single number has no interval.
            (figure(0.2, 0.8, 1), Possible::SHARE, None),
        ] {
            assert_eq!(ends_of(&figure, possible), wanted);
        }
        let rows = [Some(figure(-0.2, 0.9, 2)), None];
        let table = Columns::of(&rows).counted("a", "a", Possible::SHARE, |estimate| *estimate);
        let csv = table.table(String::new(), String::new(), String::new()).csv();
        assert_eq!(csv, "a,a_low,a_high,a_n\n0.5,0.0,0.9,2\n,,,0\n");
    }
}
