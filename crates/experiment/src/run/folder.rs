//! A run's folder and the names in it.

use crate::error::{Context, Error, Result};
use crate::manifest::MANIFEST;
use crate::run::plan::RunIdentity;
use crate::run::status::RunStatus;
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use touchstream_files::{
    entries_of, read_at_most, refuse_special_file, sweep_aside, write_aside, write_aside_durably,
};

/// The bytes of files by path: the runs of a packed study.
pub type FilesInMemory = BTreeMap<PathBuf, Vec<u8>>;

/// The folder of one run. Every file in it is complete or missing.
#[derive(Clone, Debug)]
pub struct RunFolder {
    path: PathBuf,
    /// Its files, if they are not on disk.
    in_memory: Option<Arc<FilesInMemory>>,
}

const MAX_FILE_BYTES: u64 = 256 << 20;
/// Of weights and checkpoints.
const MAX_LARGE_BYTES: u64 = 1 << 36;

/// A method per file, which returns its path.
macro_rules! files {
    ($($method:ident $name:literal $about:literal)*) => {
        impl RunFolder { $( #[doc = $about] pub fn $method(&self) -> PathBuf { self.path.join($name) } )* }

        const NAMES: &[&str] = &[$($name),*];
    };
}

files! {
    config "config.toml" "All settings, as `touchstream train --config` reads them."
    task "task.toml" "The task, if it came from a file."
    schedule "schedule.toml" "The schedule, if it or its tasks came from files."
    identity "identity.json" "What determines the results."
    status "status.json" "The progress."
    facts "run.json" "What a run of a study is."
    result "result.json" "The hash of the weights of a run of a study."
    curve_csv "curve.csv" "The learning curve."
    curve_parquet "curve.parquet" "The learning curve."
    lessons_csv "lessons.csv" "The first step of each task, if there are several."
    votes_csv "votes.csv" "Votes by stage and voter."
    unit_votes_csv "unit-votes.csv" "Votes by unit."
    maps_png "maps.png" "Reward maps during the first task."
    film "maps.apng" "Reward maps during the first task, animated."
    page "page.html" "Rewards, votes and maps for a browser."
    metrics "metrics.json" "Results on each task, if there are several."
    references "references.json" "Curves of reference methods on the same tasks, if there are any."
    weights "weights.safetensors" "The final weights."
    checkpoint "checkpoint.safetensors" "The state to resume from."
}

/// Whether a run writes a file of this name, other than its lock and its manifest.
pub fn is_of_a_run(name: &str) -> bool {
    let is_numbered = |start: &str, end: &str| {
        let number = name.strip_prefix(start).and_then(|rest| rest.strip_suffix(end));
        number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
    };
    NAMES.contains(&name)
        || is_numbered("task-", ".toml")
        || is_numbered("maps-", ".png")
        || is_numbered("maps-", ".apng")
        || name.starts_with("events.out.tfevents.")
}

impl RunFolder {
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), in_memory: None }
    }

    /// A run to be read from files in memory, as if they were under this path.
    pub fn in_memory(path: impl Into<PathBuf>, files: Arc<FilesInMemory>) -> Self {
        Self { path: path.into(), in_memory: Some(files) }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A task of the schedule that came from a file, from 1.
    pub fn schedule_task(&self, number: usize) -> PathBuf {
        self.path.join(format!("task-{number}.toml"))
    }

    /// Reward maps during a task, from 1.
    pub fn lesson_maps_png(&self, lesson: u64) -> PathBuf {
        if lesson < 2 { self.maps_png() } else { self.path.join(format!("maps-{lesson}.png")) }
    }

    /// The same, animated.
    pub fn lesson_film(&self, lesson: u64) -> PathBuf {
        self.lesson_maps_png(lesson).with_extension("apng")
    }

    /// Creates the folder and locks it until the file is dropped; removes files that a killed process left
    /// incomplete. Where a file system has no locks, nothing is locked or removed.
    pub fn claim(&self) -> Result<File> {
        fs::create_dir_all(&self.path).at(&self.path)?;
        let path = self.path.join("lock");
        refuse_special_file(&path).at(&path)?;
        let open = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
        let file = open.at(&path)?;
        match file.try_lock() {
            Ok(()) => {
                sweep_aside(&self.path).at(&self.path)?;
                Ok(file)
            }
            Err(TryLockError::WouldBlock) => Err(Error::Busy { folder: self.path.clone() }),
            Err(TryLockError::Error(_)) => Ok(file),
        }
    }

    /// Reads a file that is not compared with anything: of a run that is not finished, or by [`VerifiedRun`].
    ///
    /// [`VerifiedRun`]: crate::run::VerifiedRun
    pub(crate) fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let is_large = || [self.weights(), self.checkpoint()].iter().any(|large| large == path);
        match &self.in_memory {
            Some(files) => files.get(path).cloned().ok_or_else(|| io::ErrorKind::NotFound.into()),
            None => read_at_most(path, if is_large() { MAX_LARGE_BYTES } else { MAX_FILE_BYTES }),
        }
    }

    /// The names of the files that a run writes, of those that are there.
    pub fn own_files(&self) -> Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in entries_of(&self.path).at(&self.path)? {
            let name = entry.at(&self.path)?.file_name().to_string_lossy().into_owned();
            if is_of_a_run(&name) {
                names.push(name);
            }
        }
        names.sort_unstable();
        Ok(names)
    }

    pub fn has(&self, path: &Path) -> bool {
        self.in_memory.as_ref().map_or_else(|| path.is_file(), |files| files.contains_key(path))
    }

    pub fn write(&self, path: &Path, bytes: &[u8]) -> Result<()> {
        write_aside(path, bytes).at(path)
    }

    /// `None` if the folder contains no run.
    pub fn read_identity(&self) -> Result<Option<RunIdentity>> {
        self.read_json(&self.identity())
    }

    /// `None` if the run has not begun.
    pub fn read_status(&self) -> Result<Option<RunStatus>> {
        self.read_json(&self.status())
    }

    pub fn write_status(&self, status: &RunStatus) -> Result<()> {
        self.write(&self.status(), &json_of(status))
    }

    /// Takes the folder for this run, unless it contains another.
    pub(crate) fn adopt(&self, identity: &RunIdentity) -> Result<()> {
        match self.read_identity()? {
            Some(found) if found == *identity => Ok(()),
            Some(found) => {
                Err(Error::OtherRun { folder: self.path.clone(), difference: difference(&found, identity) })
            }
            None => {
                self.check_unused()?;
                let path = self.identity();
                write_aside_durably(&path, &json_of(identity)).at(&path)
            }
        }
    }

    /// Files of others are never overwritten.
    fn check_unused(&self) -> Result<()> {
        let own = self.own_files()?.into_iter().chain([MANIFEST.to_owned()]);
        match own.map(|name| self.path.join(name)).find(|path| path.exists()) {
            Some(file) => Err(Error::NotARun { folder: self.path.clone(), file }),
            None => Ok(()),
        }
    }

    fn read_json<T: serde::de::DeserializeOwned>(&self, path: &Path) -> Result<Option<T>> {
        let bytes = match self.read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error).at(path),
        };
        serde_json::from_slice(&bytes).map(Some).map_err(|error| Error::damaged(path, error.to_string()))
    }
}

fn json_of(value: &impl serde::Serialize) -> Vec<u8> {
    let mut bytes = serde_json::to_vec_pretty(value).expect("plain data");
    bytes.push(b'\n');
    bytes
}

/// Fields that mostly differ because another field does; that field is reported instead.
const FOLLOWS_FROM_OTHERS: [&str; 3] = ["map_steps", "evaluate_every", "calibration_hash"];

/// The first field that differs: `plan.seed: 1 there, 2 here`.
pub fn difference(there: &RunIdentity, here: &RunIdentity) -> String {
    fn first(path: &str, there: &serde_json::Value, here: &serde_json::Value) -> Option<String> {
        match (there, here) {
            (serde_json::Value::Object(a), serde_json::Value::Object(b)) => {
                let null = serde_json::Value::Null;
                let keys = a.keys().chain(b.keys().filter(|key| !a.contains_key(*key)));
                let mut keys: Vec<&String> = keys.collect();
                keys.sort_by_key(|key| FOLLOWS_FROM_OTHERS.contains(&key.as_str()));
                keys.into_iter()
                    .map(|key| (key, a.get(key).unwrap_or(&null), b.get(key).unwrap_or(&null)))
                    .find_map(|(key, a, b)| first(&format!("{path}.{key}"), a, b))
            }
            (serde_json::Value::Array(a), serde_json::Value::Array(b)) if a.len() == b.len() => {
                let pairs = a.iter().zip(b).enumerate();
                pairs.into_iter().find_map(|(idx, (a, b))| first(&format!("{path}[{idx}]"), a, b))
            }
            (serde_json::Value::Array(a), serde_json::Value::Array(b))
                if a.iter().any(serde_json::Value::is_object) =>
            {
                Some(format!("{}: {} there, {} here", path.trim_start_matches('.'), a.len(), b.len()))
            }
            (a, b) if a == b => None,
            (a, b) => Some(format!("{}: {a} there, {b} here", path.trim_start_matches('.'))),
        }
    }
    let value = |identity| serde_json::to_value(identity).unwrap_or_default();
    first("", &value(there), &value(here)).unwrap_or_else(|| "another program version".into())
}
