//! The report of a study: figures, tables, verdicts and a page.

mod build;
mod facts;
mod pictures;
mod verdicts_of_study;
mod votes;
mod write;

pub use build::{StudyReport, baselines_or_none, study_report};
pub use write::{ReportPlace, write_report};
