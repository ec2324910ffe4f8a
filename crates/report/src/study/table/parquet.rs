//! A table as Parquet, for data frames: texts as strings, counts as INT64, numbers as optional DOUBLE.

use super::{Cell, CellKind, Table, TableColumn, TableError};
use parquet::basic::{LogicalType, Repetition, Type as PhysicalType};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{Type, TypePtr};
use std::sync::Arc;

impl Table {
    /// One row group; columns have their names for programs.
    pub fn parquet(&self) -> Result<Vec<u8>, TableError> {
        self.check()?;
        let counts = self.counts()?;
        self.file(&counts).map_err(|source| TableError::Parquet { table: self.id.clone(), source })
    }

    /// The values of each column of counts; empty for other columns.
    fn counts(&self) -> Result<Vec<Vec<i64>>, TableError> {
        let mut counts = vec![Vec::new(); self.columns.len()];
        for (row_idx, row) in self.rows.iter().enumerate() {
            for ((cell, column), counts) in row.iter().zip(&self.columns).zip(&mut counts) {
                let Cell::Count(count) = *cell else { continue };
                counts.push(i64::try_from(count).map_err(|_| TableError::CountTooLarge {
                    table: self.id.clone(),
                    column: column.name.clone(),
                    row: row_idx + 1,
                    count,
                })?);
            }
        }
        Ok(counts)
    }

    fn file(&self, counts: &[Vec<i64>]) -> Result<Vec<u8>, ParquetError> {
        let fields = self.columns.iter().map(field).collect::<Result<Vec<_>, _>>()?;
        let schema = Arc::new(Type::group_type_builder("table").with_fields(fields).build()?);
        let properties = WriterProperties::builder().set_created_by("touchstream".into()).build();
        let mut bytes = Vec::new();
        let mut file = SerializedFileWriter::new(&mut bytes, schema, Arc::new(properties))?;
        let mut group = file.next_row_group()?;
        for (column_idx, counts) in counts.iter().enumerate() {
            let Some(mut writer) = group.next_column()? else { break };
            let cells = self.rows.iter().map(|row| &row[column_idx]);
            match writer.untyped() {
                ColumnWriter::Int64ColumnWriter(writer) => {
                    writer.write_batch(counts, None, None)?;
                }
                ColumnWriter::ByteArrayColumnWriter(writer) => {
                    let texts: Vec<ByteArray> = cells.filter_map(text_of).collect();
                    writer.write_batch(&texts, None, None)?;
                }
                ColumnWriter::DoubleColumnWriter(writer) => {
                    let numbers: Vec<Option<f64>> = cells.filter_map(number_of).collect();
                    let there: Vec<i16> = numbers.iter().map(|number| i16::from(number.is_some())).collect();
                    let numbers: Vec<f64> = numbers.into_iter().flatten().collect();
                    writer.write_batch(&numbers, Some(&there), None)?;
                }
                ColumnWriter::BoolColumnWriter(writer) => {
                    let truths: Vec<bool> = cells.filter_map(truth_of).collect();
                    writer.write_batch(&truths, None, None)?;
                }
                _ => unreachable!("the schema has no other columns"),
            }
            writer.close()?;
        }
        group.close()?;
        file.close()?;
        Ok(bytes)
    }
}

fn field(column: &TableColumn) -> Result<TypePtr, ParquetError> {
    let (kind, repetition, logical) = match column.kind {
        CellKind::Text => (PhysicalType::BYTE_ARRAY, Repetition::REQUIRED, Some(LogicalType::String)),
        CellKind::Count => (PhysicalType::INT64, Repetition::REQUIRED, None),
        CellKind::Number => (PhysicalType::DOUBLE, Repetition::OPTIONAL, None),
        CellKind::Truth => (PhysicalType::BOOLEAN, Repetition::REQUIRED, None),
    };
    let field = Type::primitive_type_builder(&column.name, kind);
    Ok(Arc::new(field.with_repetition(repetition).with_logical_type(logical).build()?))
}

fn text_of(cell: &Cell) -> Option<ByteArray> {
    if let Cell::Text(text) = cell { Some(text.as_str().into()) } else { None }
}

fn number_of(cell: &Cell) -> Option<Option<f64>> {
    if let Cell::Number(number) = cell { Some(*number) } else { None }
}

fn truth_of(cell: &Cell) -> Option<bool> {
    if let Cell::Truth(truth) = cell { Some(*truth) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::table::content::tests::table_with;
    use bytes::Bytes;
    use parquet::file::reader::{FileReader, SerializedFileReader};

    fn read(table: &Table) -> Vec<String> {
        let reader = SerializedFileReader::new(Bytes::from(table.parquet().unwrap())).unwrap();
        reader.get_row_iter(None).unwrap().map(|row| row.unwrap().to_string()).collect()
    }

    #[test]
    fn the_table_reads_back() {
        let rows = read(&table_with("ä, \"b\""));
        assert_eq!(
            rows,
            [
                "{module: \"ä, \"b\"\", n_runs: 12, mean: -1.23456789E-1, done: true}",
                "{module: \"plain\", n_runs: 0, mean: null, done: false}",
            ]
        );
    }

    #[test]
    fn an_empty_table_keeps_its_columns() {
        let mut table = table_with("a");
        table.rows.clear();
        let reader = SerializedFileReader::new(Bytes::from(table.parquet().unwrap())).unwrap();
        let schema = reader.metadata().file_metadata().schema_descr();
        let kinds: Vec<PhysicalType> = schema.columns().iter().map(|column| column.physical_type()).collect();
        assert_eq!(
            kinds,
            [PhysicalType::BYTE_ARRAY, PhysicalType::INT64, PhysicalType::DOUBLE, PhysicalType::BOOLEAN]
        );
        assert_eq!(reader.metadata().file_metadata().num_rows(), 0);
    }

    #[test]
    fn a_count_is_never_cut_short() {
        let mut table = table_with("a");
        table.rows[1][1] = Cell::Count(u64::MAX);
        let error = table.parquet().unwrap_err().to_string();
        assert!(error.starts_with("table runs, column n_runs, row 2: 18446744073709551615"), "{error}");
    }
}
