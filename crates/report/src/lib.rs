//! Contact sheets, reward map images, figures, tables and pages.
//!
//! This crate turns screens and results into bytes (PNG, APNG, SVG, HTML, CSV, Parquet); it opens no files.

#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod area_plot;
pub mod canvas;
pub mod colour_map;
pub mod film;
pub mod lettering;
pub mod life_figure;
pub mod neighbour_sheet;
pub mod page;
pub mod sections;
pub mod sheet;
pub mod story;
pub mod study;
pub mod training_page;
pub mod trial_label;
pub mod trial_shots;
pub mod vote_plots;
