//! Tables, and the five forms they are handed out in.

mod content;
mod csv;
mod html;
mod latex;
mod markdown;
mod parquet;

pub use content::{Cell, CellKind, Table, TableColumn, TableError};
