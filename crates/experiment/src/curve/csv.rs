//! The curve as CSV. Numbers have enough digits to be read back to the same bits.

use crate::curve::row::{COLUMNS, CurveRow, Value};
use touchstream_agents::Evaluation;

/// The curve as CSV with a header.
pub fn csv_text(rows: &[CurveRow]) -> String {
    let mut text = COLUMNS.map(|column| column.name).join(",");
    text.push('\n');
    rows.iter().for_each(|row| text += &csv_line(row));
    text
}

/// A row, with a newline.
pub fn csv_line(row: &CurveRow) -> String {
    let cells = COLUMNS.map(|column| match (column.value)(row) {
        Value::Count(count) => count.to_string(),
        Value::Number(number) => number.map_or_else(String::new, |number| number.to_string()),
    });
    cells.join(",") + "\n"
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct CsvError {
    /// Line number, from 1.
    pub line: usize,
    pub problem: String,
}

/// Parses the output of [`csv_text`].
pub fn rows_from_csv(text: &str) -> Result<Vec<CurveRow>, CsvError> {
    let mut lines = text.lines().enumerate();
    let head = COLUMNS.map(|column| column.name).join(",");
    if lines.next().map(|(_, line)| line) != Some(head.as_str()) {
        return Err(CsvError { line: 1, problem: format!("the head is not `{head}`") });
    }
    lines
        .map(|(idx, line)| row_from_line(line).map_err(|problem| CsvError { line: idx + 1, problem }))
        .collect()
}

fn row_from_line(line: &str) -> Result<CurveRow, String> {
    let cells: Vec<&str> = line.split(',').collect();
    if cells.len() != COLUMNS.len() {
        return Err(format!("{} cells instead of {}", cells.len(), COLUMNS.len()));
    }
    let bad = |at: usize| format!("{}: `{}` is not a number", COLUMNS[at].name, cells[at]);
    let count = |at: usize| cells[at].parse::<u64>().map_err(|_| bad(at));
    let number = |at: usize| cells[at].parse::<f64>().map_err(|_| bad(at));
    let perhaps = |at: usize| if cells[at].is_empty() { Ok(None) } else { number(at).map(Some) };
    Ok(CurveRow {
        step: count(0)?,
        lesson: count(1)?,
        train_reward: perhaps(2)?,
        train_trials: count(3)?,
        train_loss: perhaps(4)?,
        reuse: perhaps(5)?,
        validation: Evaluation {
            reward: number(6)?,
            reward_se: number(7)?,
            n_trials: count(8)?,
            on_object: perhaps(9)?,
            cross_entropy: number(10)?,
            map_error: number(11)?,
            calibration_error: number(12)?,
            regret: number(13)?,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_survive_the_file() {
        let row = |step, train_reward| CurveRow {
            step,
            lesson: 2,
            train_reward,
            train_trials: 3,
            train_loss: Some(1.0 / 3.0),
            reuse: train_reward.map(|_| 0.75),
            validation: Evaluation {
                n_trials: 100,
                reward: 0.1 + 0.2,
                reward_se: 1e-9,
                on_object: train_reward.map(|_| 2.0 / 3.0),
                cross_entropy: 0.7,
                map_error: 0.5,
                calibration_error: 0.25,
                regret: 0.0,
            },
        };
        let rows = [row(0, None), row(1000, Some(0.123_456_789_012_345_68))];
        assert_eq!(rows_from_csv(&csv_text(&rows)).unwrap(), rows);
        let error = rows_from_csv(&csv_text(&rows).replace("0.7", "x")).unwrap_err();
        assert_eq!(error.to_string(), "line 2: cross_entropy: `x` is not a number");
        assert_eq!(rows_from_csv("a,b").unwrap_err().line, 1);
    }
}
