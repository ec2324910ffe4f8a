//! Whether results are what they were when they were written: runs, studies, reports and packed studies.

mod run;
mod study;

use crate::error::{Context, Error, Result};
use crate::manifest::{MANIFEST, Manifest};
use crate::study::{ENDING, OpenStudy};
use serde::Serialize;
use std::fs;
use std::path::{Path, PathBuf};
use touchstream_files::entries_of;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Integrity {
    /// Every file is as its manifest lists it.
    Intact,
    Damaged,
    /// An older program wrote it; what has a checksum of its own was compared with that.
    NoManifest,
    /// A run that was not finished; its checkpoint was checked.
    Unfinished,
    /// Not of this program.
    Foreign,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ResultKind {
    Run,
    /// Files of a study outside of its runs.
    Study,
    Report,
    PackedStudy,
    Unknown,
}

/// A result that was checked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Checked {
    pub path: PathBuf,
    pub kind: ResultKind,
    pub state: Integrity,
    /// Damaged files.
    pub problems: Vec<FileProblem>,
    /// Files in its folder that are not of this program, or not of this result.
    pub foreign: Vec<PathBuf>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FileProblem {
    pub file: PathBuf,
    pub problem: String,
}

/// Folders within folders that are searched for results.
const MAX_DEPTH: usize = 3;

/// Checks a packed study, or a folder and the results in it, by content.
pub fn check(path: &Path) -> Result<Vec<Checked>> {
    let facts = fs::metadata(path).at(path)?;
    if facts.is_file() && path.to_string_lossy().ends_with(ENDING) {
        return Ok(vec![check_packed(path)?]);
    }
    let mut all = if facts.is_dir() { check_folder(path, MAX_DEPTH)? } else { Vec::new() };
    if all.is_empty() {
        all.push(Checked::new(path, ResultKind::Unknown, Integrity::Foreign));
    }
    Ok(all)
}

fn check_folder(path: &Path, depth: usize) -> Result<Vec<Checked>> {
    let has = |name: &str| path.join(name).exists();
    if has("study.toml") || (has("study.lock") && has("runs")) {
        return study::check_study(path);
    }
    if ["identity.json", "status.json", "run.json"].into_iter().any(has) {
        return Ok(vec![run::check_run(path)?]);
    }
    if has("findings.json") {
        return Ok(vec![check_report(path)?]);
    }
    let mut all = Vec::new();
    for (name, is_folder) in names_in(path)? {
        if depth > 0 && is_folder && !name.starts_with('.') {
            all.extend(check_folder(&path.join(name), depth - 1)?);
        }
    }
    Ok(all)
}

fn check_packed(path: &Path) -> Result<Checked> {
    let mut checked = Checked::new(path, ResultKind::PackedStudy, Integrity::Intact);
    match OpenStudy::at(path) {
        Ok(open) if open.has_manifest() => {}
        Ok(_) => checked.state = Integrity::NoManifest,
        Err(error) => checked.add_error(path, error)?,
    }
    Ok(checked)
}

fn check_report(path: &Path) -> Result<Checked> {
    let mut checked = Checked::new(path, ResultKind::Report, Integrity::Intact);
    let manifest = checked.compare(Manifest::read(path))?;
    let is_ours =
        |name: &str| name == MANIFEST || manifest.as_ref().is_none_or(|manifest| manifest.has(name));
    for (name, is_folder) in names_in(path)? {
        match is_folder {
            false if !is_ours(&name) => checked.foreign.push(path.join(name)),
            false => {}
            true => {
                let inner =
                    names_in(&path.join(&name))?.into_iter().map(|(inner, _)| format!("{name}/{inner}"));
                checked.foreign.extend(inner.filter(|name| !is_ours(name)).map(|name| path.join(name)));
            }
        }
    }
    Ok(checked)
}

/// Names in a folder and whether they are folders, in order.
fn names_in(folder: &Path) -> Result<Vec<(String, bool)>> {
    let mut names = Vec::new();
    for entry in entries_of(folder).at(folder)? {
        let entry = entry.at(folder)?;
        let is_folder = entry.file_type().at(folder)?.is_dir();
        names.push((entry.file_name().to_string_lossy().into_owned(), is_folder));
    }
    names.sort_unstable();
    Ok(names)
}

impl Checked {
    fn new(path: &Path, kind: ResultKind, state: Integrity) -> Self {
        Self { path: path.to_owned(), kind, state, problems: Vec::new(), foreign: Vec::new() }
    }

    fn add(&mut self, file: &Path, problem: String) {
        self.state = Integrity::Damaged;
        self.problems.push(FileProblem { file: file.to_owned(), problem });
    }

    /// An error that says nothing of the result, such as missing permissions, is returned.
    fn add_error(&mut self, file: &Path, error: Error) -> Result<()> {
        if error.is_out_of_reach() {
            return Err(error);
        }
        match error {
            Error::Damaged { path, problem } => self.add(&path, problem),
            error => self.add(file, error.text()),
        }
        Ok(())
    }

    /// Compares all files of the folder with a manifest that was read from it.
    fn compare(&mut self, manifest: Result<Option<Manifest>>) -> Result<Option<Manifest>> {
        let folder = self.path.clone();
        match manifest {
            Ok(Some(manifest)) => {
                for name in manifest.names() {
                    if let Some(problem) = manifest.problem_of(name, &folder)? {
                        self.add(&folder.join(name), problem);
                    }
                }
                Ok(Some(manifest))
            }
            Ok(None) => {
                self.state = Integrity::NoManifest;
                Ok(None)
            }
            Err(error) => self.add_error(&folder.join(MANIFEST), error).map(|()| None),
        }
    }
}
