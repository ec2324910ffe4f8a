//! Writes a report: the page, figures as SVG and PNG, tables in all formats.

use crate::error::{Context, Error, Result};
use crate::listed_output::{Files, Replaced, write_listed};
use crate::manifest::MANIFEST;
use crate::study::StudyFolder;
use crate::study::report::build::StudyReport;
use crate::study::run_name::folder_name;
use rayon::prelude::*;
use std::path::{Path, PathBuf};
use touchstream_report::study::figure::Figure;
use touchstream_report::study::png::{DEFAULT_SCALE, png_from_svg};
use touchstream_report::study::table::Table;

const FIGURES: &str = "figures";
const TABLES: &str = "tables";
const FINDINGS: &str = "findings.json";

/// Where a report is written.
#[derive(Clone, Copy, Debug)]
pub enum ReportPlace<'a> {
    /// The study's own folder for it.
    Study(&'a StudyFolder),
    /// A folder that the user chose, which may contain other files.
    Folder(&'a Path),
}

/// Writes a report and returns the path of its page. Only files that an earlier report wrote are replaced; those that
/// this one does not have are deleted at the end.
pub fn write_report(report: &StudyReport, place: ReportPlace<'_>) -> Result<PathBuf> {
    let files = files_of(report)?;
    match place {
        ReportPlace::Study(study) => {
            let folder = study.report();
            let replaced = if is_older_report(&folder) { Replaced::Any } else { Replaced::Listed };
            write_listed(&files, &folder, MANIFEST, replaced)?;
            Ok(folder.join("index.html"))
        }
        ReportPlace::Folder(folder) => {
            write_listed(&files, folder, MANIFEST, Replaced::Listed)?;
            Ok(folder.join("index.html"))
        }
    }
}

/// Whether a program that wrote no manifests has written a report here.
fn is_older_report(folder: &Path) -> bool {
    folder.join(FINDINGS).exists() && !folder.join(MANIFEST).exists()
}

fn files_of(report: &StudyReport) -> Result<Files> {
    let sections = &report.page.sections;
    let figures: Vec<&Figure> = sections.iter().flat_map(|section| &section.figures).collect();
    let tables: Vec<&Table> =
        sections.iter().flat_map(|section| &section.tables).chain([&report.verdicts]).collect();
    let mut files = Files::new();
    files.insert(FINDINGS.into(), serde_json::to_vec(&report.findings)?);
    files.insert("index.html".into(), report.page.html().into_bytes());
    for of_figure in figures.par_iter().map(|figure| files_of_figure(figure)).collect::<Result<Vec<_>>>()? {
        files.extend(of_figure);
    }
    for of_table in tables.par_iter().map(|table| files_of_table(table)).collect::<Result<Vec<_>>>()? {
        files.extend(of_table);
    }
    Ok(files)
}

fn files_of_figure(figure: &Figure) -> Result<[(String, Vec<u8>); 2]> {
    let file = |end: &str| format!("{FIGURES}/{}.{end}", folder_name(&figure.id));
    let png = png_from_svg(&figure.svg, DEFAULT_SCALE).with_context(|| figure.id.clone())?;
    Ok([(file("svg"), figure.svg.clone().into_bytes()), (file("png"), png)])
}

fn files_of_table(table: &Table) -> Result<[(String, Vec<u8>); 4]> {
    let file = |end: &str| format!("{TABLES}/{}.{end}", folder_name(&table.id));
    let parquet = table.parquet().map_err(Error::other).with_context(|| table.id.clone())?;
    Ok([
        (file("csv"), table.csv().into_bytes()),
        (file("md"), table.markdown().into_bytes()),
        (file("tex"), table.latex().into_bytes()),
        (file("parquet"), parquet),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_tables_are_no_paths() {
        let id = "rgain-ems (data=folder:/a/../../../b)".to_owned();
        let table = Table { id, ..Table::default() };
        for (name, _) in files_of_table(&table).unwrap() {
            assert_eq!(name.matches('/').count(), 1, "{name}");
        }
    }
}
