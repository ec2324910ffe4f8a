//! Sheets, heat maps and pages: the last station of the walk, where people look.
//!
//! This crate makes bytes (PNG, APNG, SVG, HTML, tables) out of streams and numbers; it opens no files and decides nothing.

#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod area_plot;
pub mod canvas;
pub mod colour_map;
pub mod curve_plot;
pub mod film;
pub mod neighbour_sheet;
pub mod page;
pub mod sections;
pub mod sheet;
pub mod study;
pub mod switch_page;
pub mod training_page;
pub mod trial_shots;
