//! Baselines of localization in a study's folder.

use crate::baselines::baselines;
use crate::config::{RawConfig, parse_task_arg};
use crate::error::{Error, Result};
use crate::output::write_file;
use crate::study::StudyFolder;
use crate::study::own_files::BASELINES;
use crate::study::spec::StudySpec;
use crate::watch::{Event, Watch};
use serde::Deserialize;
use std::path::{Path, PathBuf};
use touchstream_env::task::{Paradigm, Task};

/// Computes the missing baselines of a study: fixed boxes, and regression if a Python is given.
pub fn make_missing_baselines(folder: &StudyFolder, spec: &StudySpec, watch: &dyn Watch) -> Result<()> {
    let is_wanted = spec.name == "localization" || spec.python.is_some();
    let Some((word, task)) = localization_of(spec).filter(|_| is_wanted) else { return Ok(()) };
    if has_baselines(folder, spec.python.is_some(), watch)? {
        return Ok(());
    }
    watch.on(Event::BaselinesStarted);
    let config = RawConfig { task: Some(word), ..spec.settings_for(task.id()) };
    let report = baselines(config, spec.python.as_deref(), watch)?;
    let json = serde_json::to_string_pretty(&report)?;
    let lock = folder.lock()?;
    folder.change(&lock, |name| name == BASELINES, || write_file(&folder.baselines(), json.as_bytes()))
}

/// Resolves a program's path relative to a folder; a plain name is looked up in `PATH`.
pub fn program_beside(program: &Path, folder: &Path) -> PathBuf {
    if program.components().count() < 2 { program.to_owned() } else { folder.join(program) }
}

/// The first localization task of a study.
pub fn localization_of(spec: &StudySpec) -> Option<(String, Task)> {
    spec.tasks.iter().find_map(|word| {
        let task = parse_task_arg(word).ok()?;
        (*task.paradigm() == Paradigm::Localization).then(|| (word.clone(), task))
    })
}

/// Damaged ones are moved aside, to be computed again.
fn has_baselines(folder: &StudyFolder, with_regression: bool, watch: &dyn Watch) -> Result<bool> {
    #[derive(Deserialize)]
    struct Row {
        name: String,
    }
    #[derive(Deserialize)]
    struct Rows {
        baselines: Vec<Row>,
    }
    let bytes = match folder.read_own(BASELINES) {
        Err(error @ Error::Damaged { .. }) => {
            watch.on(Event::Note(&format!("{}; it is moved aside", error.text())));
            folder.move_own_aside(BASELINES)?;
            None
        }
        read => read?,
    };
    let rows: Option<Rows> = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    Ok(rows.is_some_and(|rows| {
        !with_regression || rows.baselines.iter().any(|row| row.name.contains("regression"))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::Unwatched;

    #[test]
    fn a_program_is_found_from_anywhere() {
        let beside = |word: &str| program_beside(Path::new(word), Path::new("/a")).display().to_string();
        let found = ["python3", "env/bin/python", "/usr/bin/python"].map(beside);
        assert_eq!(found, ["python3", "/a/env/bin/python", "/usr/bin/python"]);
    }

    #[test]
    fn what_is_there_is_not_made_again() {
        let place = tempfile::tempdir().unwrap();
        let folder = StudyFolder::at(place.path());
        let check = |text: Option<&str>, plain: bool, with_regression: bool| {
            text.map_or_else(|| Ok(()), |text| std::fs::write(folder.baselines(), text)).unwrap();
            assert_eq!(
                [false, true].map(|regression| has_baselines(&folder, regression, &Unwatched).unwrap()),
                [plain, with_regression]
            );
        };
        check(None, false, false);
        check(Some("{}"), false, false);
        check(Some(r#"{"baselines": [{"name": "mean box"}]}"#), true, false);
        check(Some(r#"{"baselines": [{"name": "mean box"}, {"name": "ridge regression"}]}"#), true, true);
    }
}
