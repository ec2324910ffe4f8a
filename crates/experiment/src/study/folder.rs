//! A study's folder and the paths in it.

use crate::error::{Context, Result};
use crate::run::{FilesInMemory, RunFolder};
use crate::study::attempts::Attempts;
use crate::study::own_files::{BASELINES, SLURM, SPEC};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use touchstream_files::{entries_of, none_if_not_found};

/// The folder of a study. Complete runs are in `runs`, runs in progress in `attempts`.
#[derive(Clone, Debug)]
pub struct StudyFolder {
    path: PathBuf,
    /// Runs in memory, for a packed study; `None` if they are on disk.
    runs: Option<Arc<FilesInMemory>>,
}

impl StudyFolder {
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), runs: None }
    }

    /// A read-only study whose runs are in memory, with paths as if they were in this folder; all other files are on
    /// disk.
    pub fn with_runs_in_memory(path: impl Into<PathBuf>, runs: FilesInMemory) -> Self {
        Self { path: path.into(), runs: Some(Arc::new(runs)) }
    }

    /// Whether it was packed: its runs are in memory, and nothing will change.
    pub fn is_unpacked(&self) -> bool {
        self.runs.is_some()
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn spec(&self) -> PathBuf {
        self.path.join(SPEC)
    }

    /// The study's own copy of a task file, by the task's id.
    pub fn task(&self, id: &str) -> PathBuf {
        self.path.join("tasks").join(format!("{id}.toml"))
    }

    /// The job arrays that were submitted.
    pub fn slurm(&self) -> PathBuf {
        self.path.join(SLURM)
    }

    /// Baselines of localization.
    pub fn baselines(&self) -> PathBuf {
        self.path.join(BASELINES)
    }

    /// Figures, tables and page.
    pub fn report(&self) -> PathBuf {
        self.path.join("report")
    }

    /// The folder of a complete run.
    pub fn run(&self, name: &str) -> RunFolder {
        let path = self.path.join("runs").join(name);
        match &self.runs {
            Some(runs) => RunFolder::in_memory(path, Arc::clone(runs)),
            None => RunFolder::at(path),
        }
    }

    pub fn attempts(&self, name: &str) -> Attempts {
        Attempts::at(self.path.join("attempts").join(name))
    }

    /// The names of all complete runs.
    pub fn complete(&self) -> Result<BTreeSet<String>> {
        let Some(files) = &self.runs else { return self.names_in("runs") };
        let runs = self.path.join("runs");
        let inside = files.keys().filter_map(|path| path.strip_prefix(&runs).ok()?.components().next());
        Ok(inside.map(|name| name.as_os_str().to_string_lossy().into_owned()).collect())
    }

    /// The names of all runs with an attempt.
    pub fn begun(&self) -> Result<BTreeSet<String>> {
        self.names_in("attempts")
    }

    fn names_in(&self, part: &str) -> Result<BTreeSet<String>> {
        let folder = self.path.join(part);
        let mut names = BTreeSet::new();
        for entry in entries_of(&folder).at(&folder)? {
            let name = entry.at(&folder)?.file_name().to_string_lossy().into_owned();
            if !name.starts_with('.') {
                names.insert(name);
            }
        }
        Ok(names)
    }

    /// Turns a finished attempt into the run; `false` if another attempt was faster, whose result is kept.
    pub(crate) fn publish(&self, name: &str, attempt: &Path) -> Result<bool> {
        let run = self.run(name);
        let parent = self.path.join("runs");
        fs::create_dir_all(&parent).at(&parent)?;
        // Renaming onto a folder that is not empty fails: the first complete result wins.
        match fs::rename(attempt, run.path()) {
            Ok(()) => Ok(true),
            Err(_) if run.path().is_dir() => Ok(false),
            Err(error) => Err(error).at(run.path()),
        }
    }

    /// Moves an unreadable run aside, so that it is repeated. Returns its new path, or `None` if it was already gone.
    pub fn set_aside(&self, name: &str) -> Result<Option<PathBuf>> {
        let run = self.run(name);
        let mut free = self.places_aside(name).filter(|path| !path.exists());
        let aside = free.next().unwrap_or_else(|| unreachable!("numbers do not end"));
        let moved = none_if_not_found(fs::rename(run.path(), &aside)).at(run.path())?;
        Ok(moved.map(|()| aside))
    }

    /// The run of this name that was set aside last.
    pub fn set_aside_before(&self, name: &str) -> Option<RunFolder> {
        self.places_aside(name).take_while(|path| path.exists()).last().map(RunFolder::at)
    }

    fn places_aside(&self, name: &str) -> impl Iterator<Item = PathBuf> {
        let runs = self.path.join("runs");
        (1..).map(move |number: u32| runs.join(format!(".damaged-{name}-{number}")))
    }
}
