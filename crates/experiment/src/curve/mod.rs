//! A run's learning curve: one row per evaluation, as CSV, Parquet and TensorBoard events.

mod crc32c;
mod csv;
mod parquet_file;
mod row;
mod tensorboard;
mod votes;

pub use csv::{CsvError, csv_line, csv_text, rows_from_csv};
pub use parquet_file::parquet_bytes;
pub use row::{COLUMNS, Column, CurveRow};
pub use tensorboard::EventFile;
pub use votes::{LessonVotes, UNIT_VOTES_HEAD, VOTES_HEAD, VoteRow, reuse, voter_name};
