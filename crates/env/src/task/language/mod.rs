//! Reads and writes task files (TOML).

mod parse;
mod print;

pub use parse::parse_task;
pub(crate) use print::quoted;
