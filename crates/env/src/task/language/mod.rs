//! The language of task files: TOML, read and written.

mod parse;
mod print;

pub use parse::parse_task;
pub(crate) use print::quoted;
