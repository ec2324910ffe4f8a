//! Keeps copies of task files in a study's folder, so that the study does not depend on the original files.

use crate::config::{is_path, parse_task_arg, read_text, task_from_text};
use crate::error::{Context, Result, bail};
use crate::study::StudyFolder;
use crate::study::pair::pair_words;
use crate::study::spec::StudySpec;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use touchstream_env::task::Task;
use touchstream_files::write_aside_durably;

/// Copies of task files, by the ids and paths in the study's settings.
pub struct KeptTasks {
    /// The study's folder.
    folder: PathBuf,
    copies: BTreeMap<String, PathBuf>,
    /// Copies that have not been written yet, by path.
    new: BTreeMap<PathBuf, String>,
}

struct Named {
    word: String,
    task: Task,
    /// The text of the task's file, if it has one.
    text: Option<String>,
}

impl KeptTasks {
    /// Finds the task files of a study and their copies in its folder; writes nothing.
    pub fn look<'a>(folder: &StudyFolder, specs: impl IntoIterator<Item = &'a StudySpec>) -> Result<Self> {
        let mut by_id: BTreeMap<String, Vec<Named>> = BTreeMap::new();
        for word in specs.into_iter().flat_map(task_words) {
            let named = Named::read(word)?;
            by_id.entry(named.task.id().to_owned()).or_default().push(named);
        }
        let mut kept = Self {
            folder: std::path::absolute(folder.path())?,
            copies: BTreeMap::new(),
            new: BTreeMap::new(),
        };
        for (id, named) in by_id {
            let text = named.iter().find_map(|one| one.text.clone());
            let copy = folder.task(&id);
            if text.is_some() && copy.exists() {
                check_unchanged(&named, &copy, folder)?;
            }
            check_one_task(&named)?;
            let Some(text) = text else { continue };
            // A file may have the id of a built-in task; the study then uses the file for both.
            let place = std::path::absolute(&copy)?;
            kept.copies.extend(named.into_iter().map(|one| (one.word, place.clone())));
            if !copy.exists() {
                kept.new.insert(copy, text);
            }
        }
        Ok(kept)
    }

    /// Whether there are task files without a copy.
    pub fn has_new(&self) -> bool {
        !self.new.is_empty()
    }

    pub fn write(&self) -> Result<()> {
        for (copy, text) in &self.new {
            write_aside_durably(copy, text.as_bytes())
                .with_context(|| format!("cannot write {}", copy.display()))?;
        }
        Ok(())
    }

    /// The study with the paths of copies in place of the original paths.
    pub fn with_copies(&self, spec: &StudySpec) -> StudySpec {
        let copy = |word: &str| match self.copies.get(word) {
            Some(copy) => copy.display().to_string(),
            None => word.to_owned(),
        };
        spec.clone().with_task_words(Path::new(""), copy)
    }

    /// The study in the form that is stored in its folder: with relative paths.
    pub fn as_stored(&self, spec: &StudySpec) -> StudySpec {
        let inside = |word: &str| match Path::new(word).strip_prefix(&self.folder) {
            Ok(inside) => inside.display().to_string(),
            Err(_) => word.to_owned(),
        };
        spec.clone().with_task_words(Path::new(""), inside)
    }
}

impl Named {
    fn read(word: String) -> Result<Self> {
        if !is_path(&word) {
            return Ok(Self { task: parse_task_arg(&word)?, word, text: None });
        }
        let path = Path::new(&word);
        let text = read_text(path)?;
        Ok(Self { task: task_from_text(&text, path)?, text: Some(text), word })
    }
}

/// All ids and paths of tasks.
fn task_words(spec: &StudySpec) -> Vec<String> {
    let of_switch = |word: &String| match pair_words(word, Path::new("")) {
        Some((from, to)) => vec![from.to_owned(), to.to_owned()],
        None => Vec::new(),
    };
    spec.tasks.iter().cloned().chain(spec.switches.iter().flat_map(of_switch)).collect()
}

/// Refuses a task file that has changed, because earlier runs used the copy.
fn check_unchanged(named: &[Named], copy: &Path, folder: &StudyFolder) -> Result<()> {
    let kept = task_from_text(&read_text(copy)?, copy)?;
    match named.iter().find(|one| one.text.is_some() && one.task != kept) {
        Some(other) => bail!(
            Folder,
            "{} has changed since {} was begun, whose copy is {}: {}; choose another folder with --out, or resume with the \
             unchanged task: touchstream study resume {1}",
            other.word,
            folder.path().display(),
            copy.display(),
            difference(&other.task, &kept)
        ),
        None => Ok(()),
    }
}

/// Refuses different tasks with the same id, because runs are named by task id.
fn check_one_task(named: &[Named]) -> Result<()> {
    let Some((first, others)) = named.split_first() else { return Ok(()) };
    match others.iter().find(|other| other.task != first.task) {
        Some(other) => bail!(
            Folder,
            "{} and {} are two tasks with the same id, `{}`: {}; tasks of a study need different ids",
            first.word,
            other.word,
            first.task.id(),
            difference(&first.task, &other.task)
        ),
        None => Ok(()),
    }
}

/// The first line that differs.
fn difference(one: &Task, before: &Task) -> String {
    let (one, before) = (one.to_toml(), before.to_toml());
    let (mut one, mut before) = (one.lines(), before.lines());
    loop {
        match (one.next(), before.next()) {
            (Some(line), Some(other)) if line == other => {}
            (Some(line), Some(other)) => return format!("`{line}` instead of `{other}`"),
            (Some(line), None) => return format!("`{line}` is new"),
            (None, Some(other)) => return format!("`{other}` is gone"),
            (None, None) => return "they are written alike".into(),
        }
    }
}
