//! A table as data: named columns, each with one kind of cells, and rows.

use ::parquet::errors::ParquetError;
use touchstream_analysis::thousands;

/// A table of a study.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// A stable id, also used as a file name: `gains-by-switch`.
    pub id: String,
    pub title: String,
    /// Shown below the table: how numbers and intervals were computed.
    pub note: String,
    pub columns: Vec<TableColumn>,
    /// Rows from top to bottom, with one cell per column.
    pub rows: Vec<Vec<Cell>>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct TableColumn {
    /// Name for programs, in snake_case: `mean_reward`.
    pub name: String,
    /// Name for readers: `mean reward`.
    pub label: String,
    /// The kind of all cells in this column, also if the table has no rows.
    pub kind: CellKind,
}

impl TableColumn {
    pub fn text(name: &str, label: &str) -> Self {
        Self::of(CellKind::Text, name, label)
    }

    pub fn count(name: &str, label: &str) -> Self {
        Self::of(CellKind::Count, name, label)
    }

    /// A column of values that may be missing.
    pub fn number(name: &str, label: &str) -> Self {
        Self::of(CellKind::Number, name, label)
    }

    pub fn truth(name: &str, label: &str) -> Self {
        Self::of(CellKind::Truth, name, label)
    }

    fn of(kind: CellKind, name: &str, label: &str) -> Self {
        Self { name: name.into(), label: label.into(), kind }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    Text(String),
    Count(u64),
    /// A value that may be missing.
    Number(Option<f64>),
    Truth(bool),
}

impl Cell {
    pub fn kind(&self) -> CellKind {
        match self {
            Cell::Text(_) => CellKind::Text,
            Cell::Count(_) => CellKind::Count,
            Cell::Number(_) => CellKind::Number,
            Cell::Truth(_) => CellKind::Truth,
        }
    }

    /// The text for readers: about three decimals, and a dash for a missing number.
    pub(super) fn words(&self) -> String {
        match self {
            Cell::Text(text) => text.clone(),
            Cell::Count(count) => thousands(*count),
            Cell::Number(Some(number)) => short(*number),
            Cell::Number(None) => "–".into(),
            Cell::Truth(truth) => if *truth { "yes" } else { "no" }.into(),
        }
    }
}

/// Smaller values are rounding errors and are shown as 0.
const NOISE: f64 = 1e-12;
/// Up to this value, three decimals would show 0.000 or only one significant digit.
const SMALL: f64 = 0.000_505;
/// From this value on, no decimals are shown.
const LARGE: f64 = 999.9995;

/// Three decimals; two digits and a power of ten for small numbers such as learning rates; no decimals for large
/// numbers.
fn short(number: f64) -> String {
    match number.abs() {
        size if size < NOISE => "0.000".into(),
        size if size < SMALL => format!("{number:.1e}").replace(".0e", "e"),
        size if size >= LARGE => {
            format!("{}{}", if number < 0.0 { "-" } else { "" }, thousands(size.round() as u64))
        }
        _ => format!("{number:.3}"),
    }
}

/// The kind of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellKind {
    Text,
    /// Integers from 0.
    Count,
    /// Values that may be missing.
    Number,
    Truth,
}

impl CellKind {
    /// Whether cells are right-aligned.
    pub(super) fn is_numeric(self) -> bool {
        matches!(self, CellKind::Count | CellKind::Number)
    }
}

/// Why a table is invalid.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    #[error("table {table}, column {column}, row {row}: a {found:?} cell in a {expected:?} column")]
    WrongKind { table: String, column: String, row: usize, expected: CellKind, found: CellKind },
    #[error("table {table}, row {row}: {found} cells for {expected} columns")]
    WrongWidth { table: String, row: usize, expected: usize, found: usize },
    /// A count exceeds the range of Parquet's INT64.
    #[error("table {table}, column {column}, row {row}: {count} is too large for a 64-bit signed number")]
    CountTooLarge { table: String, column: String, row: usize, count: u64 },
    #[error("table {table} as Parquet")]
    Parquet { table: String, source: ParquetError },
}

impl Table {
    /// Checks that every row has one cell per column, of the column's kind.
    pub fn check(&self) -> Result<(), TableError> {
        for (row_idx, row) in self.rows.iter().enumerate() {
            if row.len() != self.columns.len() {
                return Err(TableError::WrongWidth {
                    table: self.id.clone(),
                    row: row_idx + 1,
                    expected: self.columns.len(),
                    found: row.len(),
                });
            }
            for (cell, column) in row.iter().zip(&self.columns) {
                if cell.kind() != column.kind {
                    return Err(TableError::WrongKind {
                        table: self.id.clone(),
                        column: column.name.clone(),
                        row: row_idx + 1,
                        expected: column.kind,
                        found: cell.kind(),
                    });
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A table with a column of each kind and two rows; `text` is part of all its texts.
    pub fn table_with(text: &str) -> Table {
        Table {
            id: "runs".into(),
            title: text.into(),
            note: text.into(),
            columns: vec![
                TableColumn::text("module", text),
                TableColumn::count("n_runs", "runs"),
                TableColumn::number("mean", "mean"),
                TableColumn::truth("done", "done"),
            ],
            rows: vec![
                vec![
                    Cell::Text(text.into()),
                    Cell::Count(12),
                    Cell::Number(Some(-0.123_456_789)),
                    Cell::Truth(true),
                ],
                vec![Cell::Text("plain".into()), Cell::Count(0), Cell::Number(None), Cell::Truth(false)],
            ],
        }
    }

    #[test]
    fn a_cell_that_does_not_fit_is_named() {
        let mut table = table_with("a");
        assert!(table.check().is_ok());
        table.rows[1][2] = Cell::Count(3);
        let error = table.check().unwrap_err().to_string();
        assert_eq!(error, "table runs, column mean, row 2: a Count cell in a Number column");
        for refused in [table.csv(), table.markdown(), table.latex(), table.html()] {
            assert_eq!(refused.unwrap_err().to_string(), error);
        }
        assert_eq!(table.parquet().unwrap_err().to_string(), error);
        table.rows[0].pop();
        assert_eq!(table.check().unwrap_err().to_string(), "table runs, row 1: 3 cells for 4 columns");
    }

    #[test]
    fn words_tell_small_numbers_apart() {
        let cases = [
            (Some(0.12345), "0.123"),
            (Some(12.0), "12.000"),
            (Some(-0.004), "-0.004"),
            (Some(0.001), "0.001"),
            (Some(-0.0006), "-0.001"),
            (Some(0.0005), "5e-4"),
            (Some(5e-4 + 1e-18), "5e-4"),
            (Some(-0.0004), "-4e-4"),
            (Some(1e-4), "1e-4"),
            (Some(2e-4), "2e-4"),
            (Some(2.345e-5), "2.3e-5"),
            (Some(9.99e-5), "1e-4"),
            (Some(0.0), "0.000"),
            (Some(-0.0), "0.000"),
            (Some(-2.2e-17), "0.000"),
            (Some(999.9), "999.900"),
            (Some(999.9999), "1,000"),
            (Some(-80_000.25), "-80,000"),
            (None, "–"),
        ];
        for (number, words) in cases {
            assert_eq!(Cell::Number(number).words(), words);
        }
    }

    /// Files for programs contain all digits.
    #[test]
    fn csv_does_not_round() {
        let mut table = table_with("a");
        table.rows[0][2] = Cell::Number(Some(0.000_123_456));
        assert!(table.csv().unwrap().contains("0.000123456"), "{:?}", table.csv());
        assert!(table.markdown().unwrap().contains("| 1.2e-4 |"));
        assert!(table.html().unwrap().contains("<td class=number>1.2e-4</td>"));
        assert!(table.latex().unwrap().contains("& $1.2 \\times 10^{-4}$ &"));
    }
}
