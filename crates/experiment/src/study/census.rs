//! The content of a study's folder, for status, packed files and reports.

use crate::error::Result;
use crate::study::StudyFolder;
use crate::study::cell::Cell;
use crate::study::records::Records;
use crate::watch::{Event, Watch};
use std::collections::BTreeSet;
use std::path::Path;

/// All complete runs in a study's folder.
pub struct Census {
    pub records: Records,
    /// Runs that the study's settings do not include.
    pub unnamed: Vec<String>,
}

impl Census {
    pub fn take(folder: &StudyFolder, cells: &[Cell]) -> Result<Self> {
        let names: BTreeSet<String> = cells.iter().map(|cell| cell.name.clone()).collect();
        Ok(Self { records: Records::read(folder, &names)?, unnamed: unnamed_runs(folder, cells)? })
    }
}

/// Complete runs that the study's settings do not include. Bases are ignored, because their names have changed between
/// versions; so are files and folders that are not runs.
pub fn unnamed_runs(folder: &StudyFolder, cells: &[Cell]) -> Result<Vec<String>> {
    let named: BTreeSet<&str> = cells.iter().map(|cell| cell.name.as_str()).collect();
    let complete = folder.complete()?.into_iter();
    let is_unnamed = |name: &String| !named.contains(name.as_str()) && !name.starts_with("base--");
    let is_run = |name: &String| folder.run(name).has(&folder.run(name).facts());
    Ok(complete.filter(is_unnamed).filter(is_run).collect())
}

/// Warns of complete runs that a study does not include.
pub fn warn_of_unnamed(study: &Path, names: &[String], watch: &dyn Watch) {
    if !names.is_empty() {
        watch.on(Event::RunsUnnamed { study, names });
    }
}
