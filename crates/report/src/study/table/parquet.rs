//! A table as Parquet, for data frames: texts as strings, counts as INT64, numbers as optional DOUBLE.

use super::{Cells, Table, TableColumn};
use parquet::basic::{LogicalType, Repetition, Type as PhysicalType};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{Type, TypePtr};
use std::sync::Arc;

impl Table {
    pub fn parquet(&self) -> Result<Vec<u8>, ParquetError> {
        parquet_of("table", &self.columns)
    }
}

/// One row group; columns have their names for programs. `schema` is the name of the schema.
pub fn parquet_of(schema: &str, columns: &[TableColumn]) -> Result<Vec<u8>, ParquetError> {
    let fields = columns.iter().map(field).collect::<Result<Vec<_>, _>>()?;
    let schema = Arc::new(Type::group_type_builder(schema).with_fields(fields).build()?);
    let properties = WriterProperties::builder().set_created_by("touchstream".into()).build();
    let mut bytes = Vec::new();
    let mut file = SerializedFileWriter::new(&mut bytes, schema, Arc::new(properties))?;
    let mut group = file.next_row_group()?;
    for column in columns {
        let Some(mut writer) = group.next_column()? else { break };
        match (writer.untyped(), &column.cells) {
            (ColumnWriter::Int64ColumnWriter(writer), Cells::Count(counts)) => {
                let counts = counts.iter().map(|&count| signed(column, count));
                writer.write_batch(&counts.collect::<Result<Vec<_>, _>>()?, None, None)?;
            }
            (ColumnWriter::ByteArrayColumnWriter(writer), Cells::Text(texts)) => {
                let texts: Vec<ByteArray> = texts.iter().map(|text| text.as_str().into()).collect();
                writer.write_batch(&texts, None, None)?;
            }
            (ColumnWriter::DoubleColumnWriter(writer), Cells::Number(numbers)) => {
                let there: Vec<i16> = numbers.iter().map(|number| i16::from(number.is_some())).collect();
                let numbers: Vec<f64> = numbers.iter().copied().flatten().collect();
                writer.write_batch(&numbers, Some(&there), None)?;
            }
            (ColumnWriter::BoolColumnWriter(writer), Cells::Truth(truths)) => {
                writer.write_batch(truths, None, None)?;
            }
            _ => unreachable!("the schema has the columns' types"),
        }
        writer.close()?;
    }
    group.close()?;
    file.close()?;
    Ok(bytes)
}

/// A count as INT64.
fn signed(column: &TableColumn, count: u64) -> Result<i64, ParquetError> {
    let too_large =
        || ParquetError::General(format!("column {}: {count} is too large for INT64", column.name));
    i64::try_from(count).map_err(|_| too_large())
}

fn field(column: &TableColumn) -> Result<TypePtr, ParquetError> {
    let (kind, repetition, logical) = match column.cells {
        Cells::Text(_) => (PhysicalType::BYTE_ARRAY, Repetition::REQUIRED, Some(LogicalType::String)),
        Cells::Count(_) => (PhysicalType::INT64, Repetition::REQUIRED, None),
        Cells::Number(_) => (PhysicalType::DOUBLE, Repetition::OPTIONAL, None),
        Cells::Truth(_) => (PhysicalType::BOOLEAN, Repetition::REQUIRED, None),
    };
    let field = Type::primitive_type_builder(&column.name, kind);
    Ok(Arc::new(field.with_repetition(repetition).with_logical_type(logical).build()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::table::Columns;
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
        let none: [u8; 0] = [];
        let empty = Columns::of(&none).text("module", "", |_| String::new()).count("n_runs", "", |_| 0);
        let table = empty.number("mean", "", |_| None).truth("done", "", |_| true).table(
            String::new(),
            String::new(),
            String::new(),
        );
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
        table.columns[1].cells = Cells::Count(vec![0, u64::MAX]);
        let error = table.parquet().unwrap_err().to_string();
        assert!(error.contains("column n_runs: 18446744073709551615"), "{error}");
    }
}
