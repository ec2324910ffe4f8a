//! Sections of a study's report: the findings as figures and tables.

mod colours;
mod controller_tables;
pub mod localization_section;
pub mod order_section;
mod over_switches;
pub mod rates_section;
pub mod single_task_section;
pub mod switch_section;
mod tables;
mod verdict_table;
pub mod vote_section;

pub use colours::{Colours, Styles};
pub use verdict_table::verdict_table;
