//! A study's report: tables, figures and one page.

pub(crate) mod axis;
pub mod band_line;
pub mod figure;
pub mod heat_table;
pub mod intervals;
mod legend;
mod outlined_text;
mod page_style;
pub mod panels;
mod plot_area;
pub mod png;
pub mod progress_banner;
pub mod study_page;
mod style;
pub mod table;
mod text_width;
pub mod verdicts;
