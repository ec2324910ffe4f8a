//! Small words for tables that sections share.

use touchstream_findings::{Averaged, Bounds, Figure, LeftOut};
use touchstream_report::study::table::{Cell, Table, TableColumn};

/// A value and both ends of its interval.
pub fn figure_columns(name: &str, label: &str) -> Vec<TableColumn> {
    vec![
        TableColumn::number(name, label),
        TableColumn::number(&format!("{name}_low"), "from"),
        TableColumn::number(&format!("{name}_high"), "to"),
    ]
}

/// Their cells.
pub fn figure_cells(figure: Option<&Figure>) -> Vec<Cell> {
    cells_of(figure.map(|figure| figure.value), figure.and_then(|figure| figure.interval))
}

/// The same of an average over tasks.
pub fn averaged_cells(averaged: Option<&Averaged>) -> Vec<Cell> {
    cells_of(averaged.map(|averaged| averaged.value), averaged.and_then(|averaged| averaged.interval))
}

fn cells_of(value: Option<f64>, interval: Option<Bounds>) -> Vec<Cell> {
    vec![
        Cell::Number(value),
        Cell::Number(interval.map(|bounds| bounds.low)),
        Cell::Number(interval.map(|bounds| bounds.high)),
    ]
}

/// Both ends, as figures take them.
pub fn ends(interval: Option<Bounds>) -> Option<(f64, f64)> {
    interval.map(|bounds| (bounds.low, bounds.high))
}

/// What a table or figure leaves out, and why; none if nothing is.
pub fn left_out_table(id: &str, left_out: &[LeftOut]) -> Option<Table> {
    let row = |one: &LeftOut| vec![Cell::Text(one.what.clone()), Cell::Text(one.why.clone())];
    (!left_out.is_empty()).then(|| Table {
        id: id.to_owned(),
        title: "Left out".into(),
        note: "Runs that count nowhere above, and why.".into(),
        columns: vec![TableColumn::text("what", "what"), TableColumn::text("why", "why")],
        rows: left_out.iter().map(row).collect(),
    })
}

/// How many seeds, in words: `n = 3`, or `n = 2 to 5`.
pub fn n_words(ns: impl Iterator<Item = usize>) -> String {
    let ns: Vec<usize> = ns.collect();
    match (ns.iter().min(), ns.iter().max()) {
        (Some(min), Some(max)) if min == max => format!("n = {min} seeds"),
        (Some(min), Some(max)) => format!("n = {min} to {max} seeds"),
        _ => "n = 0".into(),
    }
}
