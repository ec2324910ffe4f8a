//! A study: its own files, its runs, the records of its attempts, and its report.

use super::{Checked, Integrity, ResultKind, check_report, names_in, run::check_run};
use crate::error::{Context, Result};
use crate::manifest::{MANIFEST, Manifest};
use crate::sealed::{Unsealed, unsealed};
use crate::study::{INTACT_RUNS, STARTS, StudyFolder, has_damaged_start};
use rayon::prelude::*;
use serde_json::Value;
use std::path::{Path, PathBuf};
use touchstream_files::{none_if_not_found, read_at_most};

const MAX_BYTES: u64 = 64 << 20;
/// Folders whose content is checked on its own, or that only this machine's scheduler reads.
const OTHER_FOLDERS: [&str; 4] = ["runs", "attempts", "report", "logs"];
const OTHER_FILES: [&str; 4] = ["study.lock", MANIFEST, STARTS, INTACT_RUNS];

pub fn check_study(path: &Path) -> Result<Vec<Checked>> {
    let mut all = vec![check_own_files(path)?];
    for folder in ["runs", "attempts"] {
        let folder = path.join(folder);
        let names =
            names_in(&folder)?.into_iter().filter(|(name, is_folder)| *is_folder && !name.starts_with('.'));
        let names: Vec<PathBuf> = names.map(|(name, _)| folder.join(name)).collect();
        let is_runs = folder.ends_with("runs");
        let checked: Vec<Vec<Checked>> = names
            .par_iter()
            .map(|path| if is_runs { Ok(vec![check_run(path)?]) } else { check_attempts(path) })
            .collect::<Result<_>>()?;
        all.extend(checked.into_iter().flatten());
    }
    if path.join("report").is_dir() {
        all.push(check_report(&path.join("report"))?);
    }
    Ok(all)
}

fn check_own_files(path: &Path) -> Result<Checked> {
    let mut checked = Checked::new(path, ResultKind::Study, Integrity::Intact);
    let manifest = checked.compare(Manifest::read(path))?;
    let own = StudyFolder::at(path).own_files()?;
    for name in own.iter().filter(|name| manifest.as_ref().is_some_and(|manifest| !manifest.has(name))) {
        checked.foreign.push(path.join(name));
    }
    for (name, is_folder) in names_in(path)? {
        let is_known = match is_folder {
            true => {
                OTHER_FOLDERS.contains(&&*name) || own.iter().any(|own| own.starts_with(&format!("{name}/")))
            }
            false => OTHER_FILES.contains(&&*name) || own.contains(&name) || name.starts_with(".aside-"),
        };
        if !is_known {
            checked.foreign.push(path.join(name));
        }
    }
    let starts = path.join(STARTS);
    if read(&starts)?.is_some_and(|bytes| has_damaged_start(&bytes)) {
        checked.add(&starts, "a line of it is damaged".into());
    }
    check_sealed(&mut checked, &path.join(INTACT_RUNS))?;
    Ok(checked)
}

/// The records of the attempts at a run, if one is damaged, and the run in progress, if there is one.
fn check_attempts(path: &Path) -> Result<Vec<Checked>> {
    let mut records = Checked::new(path, ResultKind::Study, Integrity::Intact);
    let mut all = Vec::new();
    for (name, is_folder) in names_in(path)? {
        let path = path.join(&name);
        match is_folder {
            true => all.push(check_run(&path)?),
            false if name.starts_with(".aside-") => {}
            false if name.ends_with(".claim") || name.ends_with(".end.json") => {
                check_sealed(&mut records, &path)?
            }
            false => records.foreign.push(path),
        }
    }
    if records.state != Integrity::Intact || !records.foreign.is_empty() {
        all.push(records);
    }
    Ok(all)
}

fn check_sealed(checked: &mut Checked, file: &Path) -> Result<()> {
    if read(file)?.is_some_and(|bytes| unsealed::<Value>(&bytes) == Unsealed::Damaged) {
        checked.add(file, "it is damaged".into());
    }
    Ok(())
}

fn read(path: &Path) -> Result<Option<Vec<u8>>> {
    none_if_not_found(read_at_most(path, MAX_BYTES)).at(path)
}
