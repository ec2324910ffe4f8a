//! Writes a report: the page, figures as SVG and PNG, tables in all formats.

use crate::error::{Context, Error, Result};
use crate::output::write_file;
use crate::study::report::build::StudyReport;
use crate::study::run_name::folder_name;
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use touchstream_files::{entries_of, none_if_not_found};
use touchstream_report::study::figure::Figure;
use touchstream_report::study::png::{DEFAULT_SCALE, png_from_svg};
use touchstream_report::study::table::Table;

/// A folder that contains this file was written by an earlier report.
const MARK: &str = "findings.json";
const FIGURES: &str = "figures";
const TABLES: &str = "tables";

/// Writes a report into a folder and returns the path of its page. At the end it deletes files of an earlier report
/// that this one does not have.
pub fn write_report(report: &StudyReport, folder: &Path) -> Result<PathBuf> {
    let is_reports = folder.join(MARK).exists();
    let sections = &report.page.sections;
    let figures: Vec<&Figure> = sections.iter().flat_map(|section| &section.figures).collect();
    let tables = sections.iter().flat_map(|section| &section.tables).chain([&report.verdicts]);
    let tables: Vec<&Table> = tables.collect();
    write_file(&folder.join(MARK), serde_json::to_string(&report.findings)?.as_bytes())?;
    figures.par_iter().map(|figure| write_figure(figure, folder)).collect::<Result<()>>()?;
    tables.par_iter().map(|table| write_table(table, folder)).collect::<Result<()>>()?;
    let page = folder.join("index.html");
    write_file(&page, report.page.html().as_bytes())?;
    // Files in a folder that no report has written are never deleted.
    if is_reports {
        delete_all_but(
            &folder.join(FIGURES),
            &FIGURE_ENDINGS,
            figures.iter().map(|figure| figure.id.as_str()),
        )?;
        delete_all_but(&folder.join(TABLES), &TABLE_ENDINGS, tables.iter().map(|table| table.id.as_str()))?;
    }
    Ok(page)
}

const FIGURE_ENDINGS: [&str; 2] = ["svg", "png"];
const TABLE_ENDINGS: [&str; 4] = ["csv", "md", "tex", "parquet"];

/// Deletes files with these endings that do not belong to the figures or tables of this report.
fn delete_all_but<'a>(folder: &Path, endings: &[&str], kept: impl Iterator<Item = &'a str>) -> Result<()> {
    let kept: BTreeSet<String> = kept.map(folder_name).collect();
    for entry in entries_of(folder).with_context(|| folder.display().to_string())? {
        let path = entry.with_context(|| folder.display().to_string())?.path();
        let part = |part: Option<&OsStr>| part.and_then(OsStr::to_str).unwrap_or_default().to_owned();
        let is_ours = endings.contains(&part(path.extension()).as_str()) && path.is_file();
        if is_ours && !kept.contains(part(path.file_stem()).as_str()) {
            none_if_not_found(fs::remove_file(&path)).with_context(|| path.display().to_string())?;
        }
    }
    Ok(())
}

fn write_figure(figure: &Figure, folder: &Path) -> Result<()> {
    let file = |end: &str| folder.join(FIGURES).join(format!("{}.{end}", folder_name(&figure.id)));
    write_file(&file("svg"), figure.svg.as_bytes())?;
    let png = png_from_svg(&figure.svg, DEFAULT_SCALE).with_context(|| figure.id.clone())?;
    write_file(&file("png"), &png)
}

fn write_table(table: &Table, folder: &Path) -> Result<()> {
    let file = |end: &str| folder.join(TABLES).join(format!("{}.{end}", folder_name(&table.id)));
    write_file(&file("csv"), table.csv().as_bytes())?;
    write_file(&file("md"), table.markdown().as_bytes())?;
    write_file(&file("tex"), table.latex().as_bytes())?;
    let parquet = table.parquet().map_err(Error::other).with_context(|| table.id.clone())?;
    write_file(&file("parquet"), &parquet)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_tables_are_no_paths() {
        let place = tempfile::tempdir().unwrap();
        let id = "rgain-ems (data=folder:/a/../../../b)".to_owned();
        let table = Table { id, ..Table::default() };
        write_table(&table, place.path()).unwrap();
        let tables = || fs::read_dir(place.path().join(TABLES)).unwrap();
        assert_eq!(tables().count(), TABLE_ENDINGS.len());
        delete_all_but(&place.path().join(TABLES), &TABLE_ENDINGS, [table.id.as_str()].into_iter()).unwrap();
        assert_eq!(tables().count(), TABLE_ENDINGS.len());
        delete_all_but(&place.path().join(TABLES), &TABLE_ENDINGS, std::iter::empty()).unwrap();
        assert_eq!(tables().count(), 0);
    }
}
