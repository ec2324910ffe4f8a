//! A table as data: named columns, each with one kind of cells.

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
}

#[derive(Clone, Debug, PartialEq)]
pub struct TableColumn {
    /// Name for programs, in snake_case: `mean_reward`.
    pub name: String,
    /// Name for readers: `mean reward`.
    pub label: String,
    pub cells: Cells,
}

/// The cells of a column, from top to bottom.
#[derive(Clone, Debug, PartialEq)]
pub enum Cells {
    Text(Vec<String>),
    Count(Vec<u64>),
    /// Values that may be missing.
    Number(Vec<Option<f64>>),
    Truth(Vec<bool>),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell<'a> {
    Text(&'a str),
    Count(u64),
    Number(Option<f64>),
    Truth(bool),
}

impl Table {
    pub fn n_rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.cells.len())
    }

    pub fn rows(&self) -> impl Iterator<Item = Vec<Cell<'_>>> {
        (0..self.n_rows()).map(|row| self.columns.iter().map(|column| column.cells.cell(row)).collect())
    }
}

impl Cells {
    fn len(&self) -> usize {
        match self {
            Cells::Text(texts) => texts.len(),
            Cells::Count(counts) => counts.len(),
            Cells::Number(numbers) => numbers.len(),
            Cells::Truth(truths) => truths.len(),
        }
    }

    fn cell(&self, row: usize) -> Cell<'_> {
        match self {
            Cells::Text(texts) => Cell::Text(&texts[row]),
            Cells::Count(counts) => Cell::Count(counts[row]),
            Cells::Number(numbers) => Cell::Number(numbers[row]),
            Cells::Truth(truths) => Cell::Truth(truths[row]),
        }
    }

    /// Whether cells are right-aligned.
    pub(super) fn is_numeric(&self) -> bool {
        matches!(self, Cells::Count(_) | Cells::Number(_))
    }
}

/// Builds a table: `cell` reads the cells of a column from the rows.
pub struct Columns<'a, R> {
    rows: &'a [R],
    columns: Vec<TableColumn>,
}

impl<'a, R> Columns<'a, R> {
    pub fn of(rows: &'a [R]) -> Self {
        Self { rows, columns: Vec::new() }
    }

    pub fn text(self, name: &str, label: &str, cell: impl Fn(&R) -> String) -> Self {
        let cells = Cells::Text(self.rows.iter().map(cell).collect());
        self.with(name, label, cells)
    }

    pub fn count(self, name: &str, label: &str, cell: impl Fn(&R) -> u64) -> Self {
        let cells = Cells::Count(self.rows.iter().map(cell).collect());
        self.with(name, label, cells)
    }

    pub fn number(self, name: &str, label: &str, cell: impl Fn(&R) -> Option<f64>) -> Self {
        let cells = Cells::Number(self.rows.iter().map(cell).collect());
        self.with(name, label, cells)
    }

    pub fn truth(self, name: &str, label: &str, cell: impl Fn(&R) -> bool) -> Self {
        let cells = Cells::Truth(self.rows.iter().map(cell).collect());
        self.with(name, label, cells)
    }

    fn with(mut self, name: &str, label: &str, cells: Cells) -> Self {
        self.columns.push(TableColumn { name: name.into(), label: label.into(), cells });
        self
    }

    pub fn table(self, id: String, title: String, note: String) -> Table {
        Table { id, title, note, columns: self.columns }
    }
}

impl Cell<'_> {
    /// The text for readers: about three decimals, and a dash for a missing number.
    pub(super) fn words(&self) -> String {
        match self {
            Cell::Text(text) => (*text).to_owned(),
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

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A table with a column of each kind and two rows; `text` is part of all its texts.
    pub fn table_with(text: &str) -> Table {
        let rows = [(text, 12, Some(-0.123_456_789), true), ("plain", 0, None, false)];
        Columns::of(&rows)
            .text("module", text, |row| row.0.to_owned())
            .count("n_runs", "runs", |row| row.1)
            .number("mean", "mean", |row| row.2)
            .truth("done", "done", |row| row.3)
            .table("runs".into(), text.into(), text.into())
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
        table.columns[2].cells = Cells::Number(vec![Some(0.000_123_456), None]);
        assert!(table.csv().contains("0.000123456"), "{:?}", table.csv());
        assert!(table.markdown().contains("| 1.2e-4 |"));
        assert!(table.html().contains("<td class=number>1.2e-4</td>"));
        assert!(table.latex().contains("& $1.2 \\times 10^{-4}$ &"));
    }
}
