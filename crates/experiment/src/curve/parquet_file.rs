//! The curve as a Parquet table.

use crate::curve::row::{COLUMNS, Column, CurveRow, Value};
use parquet::errors::ParquetError;
use touchstream_report::study::table::{Cells, TableColumn, parquet_of};

/// One row group with the columns of the CSV file: counts as INT64, numbers as optional DOUBLE.
pub fn parquet_bytes(rows: &[CurveRow]) -> Result<Vec<u8>, ParquetError> {
    let column = |column: &Column| {
        let (mut counts, mut numbers) = (Vec::new(), Vec::new());
        for value in rows.iter().map(column.value) {
            match value {
                Value::Count(count) => counts.push(count),
                Value::Number(number) => numbers.push(number),
            }
        }
        // All values of a column have the same kind.
        let cells = if numbers.is_empty() { Cells::Count(counts) } else { Cells::Number(numbers) };
        TableColumn { name: column.name.into(), label: String::new(), cells }
    };
    parquet_of("curve", &COLUMNS.iter().map(column).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use touchstream_agents::Evaluation;

    #[test]
    fn the_table_reads_back() {
        let rows: Vec<CurveRow> = (0..3_u64)
            .map(|idx| CurveRow {
                step: idx * 1000,
                lesson: 1,
                train_reward: (idx > 0).then_some(0.5),
                train_trials: idx,
                train_loss: None,
                reuse: None,
                validation: Evaluation {
                    n_trials: 9,
                    reward: idx as f64 / 3.0,
                    reward_se: 0.1,
                    on_object: (idx > 1).then_some(0.75),
                    cross_entropy: 0.2,
                    map_error: 0.3,
                    calibration_error: 0.4,
                    regret: 0.5,
                },
            })
            .collect();
        let reader = SerializedFileReader::new(Bytes::from(parquet_bytes(&rows).unwrap())).unwrap();
        let read: Vec<String> =
            reader.get_row_iter(None).unwrap().map(|row| row.unwrap().to_string()).collect();
        assert_eq!(read.len(), 3);
        assert!(
            read[0].starts_with("{step: 0, lesson: 1, train_reward: null, train_trials: 0"),
            "{}",
            read[0]
        );
        assert!(read[2].contains("step: 2000, lesson: 1, train_reward: 0.5"), "{}", read[2]);
        assert!(read[1].contains("validation_on_object: null"), "{}", read[1]);
        assert!(read[2].contains("validation_on_object: 0.75"), "{}", read[2]);
    }
}
