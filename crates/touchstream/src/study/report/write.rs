//! A report as files: the page, figures as SVG and PNG, tables in every form.

use crate::output::write_file;
use crate::study::report::build::StudyReport;
use anyhow::{Context, Result};
use rayon::prelude::*;
use std::path::{Path, PathBuf};
use touchstream_report::study::figure::Figure;
use touchstream_report::study::png::{DEFAULT_SCALE, png_from_svg};
use touchstream_report::study::table::Table;

/// Writes everything into a folder; gives the page's place.
pub fn write_report(report: &StudyReport, folder: &Path) -> Result<PathBuf> {
    let sections = &report.page.sections;
    let figures: Vec<&Figure> = sections.iter().flat_map(|section| &section.figures).collect();
    let tables = sections.iter().flat_map(|section| &section.tables).chain([&report.verdicts]);
    let tables: Vec<&Table> = tables.collect();
    figures.par_iter().map(|figure| write_figure(figure, folder)).collect::<Result<()>>()?;
    tables.par_iter().map(|table| write_table(table, folder)).collect::<Result<()>>()?;
    write_file(&folder.join("findings.json"), serde_json::to_string(&report.findings)?.as_bytes())?;
    let page = folder.join("index.html");
    write_file(&page, report.page.html()?.as_bytes())?;
    Ok(page)
}

fn write_figure(figure: &Figure, folder: &Path) -> Result<()> {
    let file = |end: &str| folder.join("figures").join(format!("{}.{end}", figure.id));
    write_file(&file("svg"), figure.svg.as_bytes())?;
    let png = png_from_svg(&figure.svg, DEFAULT_SCALE).with_context(|| figure.id.clone())?;
    write_file(&file("png"), &png)
}

fn write_table(table: &Table, folder: &Path) -> Result<()> {
    let file = |end: &str| folder.join("tables").join(format!("{}.{end}", table.id));
    write_file(&file("csv"), table.csv()?.as_bytes())?;
    write_file(&file("md"), table.markdown()?.as_bytes())?;
    write_file(&file("tex"), table.latex()?.as_bytes())?;
    write_file(&file("parquet"), &table.parquet()?)
}
