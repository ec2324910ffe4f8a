//! From a study's folders to its report: figures, tables, verdicts and a page.

mod alone_section;
mod build;
mod colours;
mod controller_tables;
mod facts;
mod fine_section;
mod order_section;
mod over_switches;
mod pictures;
mod rates_section;
mod switch_section;
mod tables;
mod verdict_rows;
mod write;

pub use build::{baselines_or_none, study_report};
pub use write::write_report;
