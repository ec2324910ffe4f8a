//! Tables and their five file formats.

mod content;
mod csv;
mod html;
mod latex;
mod markdown;
mod parquet;

pub use content::{Cell, Cells, Columns, Table, TableColumn};
pub use parquet::parquet_of;
