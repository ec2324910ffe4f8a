//! Columns, cells and captions that several sections use.

use crate::study::intervals::Mark;
use crate::study::table::{Cell, Table, TableColumn};
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

/// Columns for a value and both ends of its interval.
pub fn figure_columns(name: &str, label: &str) -> Vec<TableColumn> {
    vec![
        TableColumn::number(name, label),
        TableColumn::number(&format!("{name}_low"), "from"),
        TableColumn::number(&format!("{name}_high"), "to"),
    ]
}

/// Columns for a value, its interval and its sample size.
pub fn counted_columns(name: &str, label: &str) -> Vec<TableColumn> {
    let mut columns = figure_columns(name, label);
    columns.push(TableColumn::count(&format!("{name}_n"), "n"));
    columns
}

pub fn figure_cells(figure: Option<&Estimate>, possible: Possible) -> Vec<Cell> {
    cells_of(figure.map(|figure| figure.value), figure.and_then(|figure| ends_of(figure, possible)))
}

/// Cells for an estimate in [`counted_columns`].
pub fn counted_cells(figure: Option<&Estimate>, possible: Possible) -> Vec<Cell> {
    let mut cells = figure_cells(figure, possible);
    cells.push(Cell::Count(figure.map_or(0, |figure| figure.n) as u64));
    cells
}

/// The same for an average over tasks.
pub fn averaged_cells(averaged: Option<&PooledEstimate>) -> Vec<Cell> {
    cells_of(averaged.map(|averaged| averaged.value), averaged.and_then(|averaged| ends(averaged.interval)))
}

fn cells_of(value: Option<f64>, interval: Option<(f64, f64)>) -> Vec<Cell> {
    let (low, high) = interval.unzip();
    vec![Cell::Number(value), Cell::Number(low), Cell::Number(high)]
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
    let row = |one: &LeftOut| vec![Cell::Text(one.what.clone()), Cell::Text(one.why.clone())];
    (!left_out.is_empty()).then(|| Table {
        id: id.to_owned(),
        title: "Left out".into(),
        note: "Runs that are excluded above, and why.".into(),
        columns: vec![TableColumn::text("what", "what"), TableColumn::text("why", "why")],
        rows: left_out.iter().map(row).collect(),
    })
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
        let cells = counted_cells(Some(&figure(-0.2, 0.9, 2)), Possible::SHARE);
        let numbers = [0.5, 0.0, 0.9].map(|number| Cell::Number(Some(number)));
        assert_eq!(cells, [numbers.to_vec(), vec![Cell::Count(2)]].concat());
        let none = [Cell::Number(None), Cell::Number(None), Cell::Number(None), Cell::Count(0)];
        assert_eq!(counted_cells(None, Possible::SHARE), none);
    }
}
