//! The curve as a Parquet table.

use crate::curve::row::{COLUMNS, CurveRow, Value};
use parquet::basic::{Repetition, Type as PhysicalType};
use parquet::column::writer::ColumnWriter;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;
use std::sync::Arc;

/// One row group with the columns of the CSV file: counts as INT64, numbers as optional DOUBLE.
pub fn parquet_bytes(rows: &[CurveRow]) -> Result<Vec<u8>, ParquetError> {
    let fields = COLUMNS.iter().map(|column| {
        // All values of a column have the same kind, so the first row decides.
        let (kind, repetition) = match rows.first().map(column.value) {
            Some(Value::Count(_)) => (PhysicalType::INT64, Repetition::REQUIRED),
            _ => (PhysicalType::DOUBLE, Repetition::OPTIONAL),
        };
        Ok(Arc::new(Type::primitive_type_builder(column.name, kind).with_repetition(repetition).build()?))
    });
    let fields = fields.collect::<Result<Vec<_>, ParquetError>>()?;
    let schema = Arc::new(Type::group_type_builder("curve").with_fields(fields).build()?);
    let properties = WriterProperties::builder().set_created_by("touchstream".into()).build();
    let mut bytes = Vec::new();
    let mut file = SerializedFileWriter::new(&mut bytes, schema, Arc::new(properties))?;
    let mut group = file.next_row_group()?;
    for column in &COLUMNS {
        let Some(mut writer) = group.next_column()? else { break };
        let values = rows.iter().map(column.value);
        match writer.untyped() {
            ColumnWriter::Int64ColumnWriter(writer) => {
                let counts: Vec<i64> = values.filter_map(Value::count).collect();
                writer.write_batch(&counts, None, None)?;
            }
            ColumnWriter::DoubleColumnWriter(writer) => {
                let numbers: Vec<Option<f64>> = values.map(Value::number).collect();
                let is_there: Vec<i16> = numbers.iter().map(|number| i16::from(number.is_some())).collect();
                let numbers: Vec<f64> = numbers.into_iter().flatten().collect();
                writer.write_batch(&numbers, Some(&is_there), None)?;
            }
            _ => unreachable!("the schema has no other columns"),
        }
        writer.close()?;
    }
    group.close()?;
    file.close()?;
    Ok(bytes)
}

impl Value {
    fn count(self) -> Option<i64> {
        if let Self::Count(count) = self { i64::try_from(count).ok() } else { None }
    }

    fn number(self) -> Option<f64> {
        if let Self::Number(number) = self { number } else { None }
    }
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
