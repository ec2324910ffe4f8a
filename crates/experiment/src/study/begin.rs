//! Writes a study's settings into its folder at the first start, and extends them at later starts.

use crate::error::{Context, Error, Result, bail};
use crate::manifest::MANIFEST;
use crate::study::cell::cells_of;
use crate::study::folder::StudyFolder;
use crate::study::kept_tasks::KeptTasks;
use crate::study::own_files::{BASELINES, SLURM, SPEC};
use crate::study::provenance::{FILE as STARTS, Start};
use crate::study::spec::StudySpec;
use crate::study::study_lock::StudyLock;
use touchstream_files::write_aside_durably;

pub fn read_spec(folder: &StudyFolder) -> Result<StudySpec> {
    let spec = read_spec_if_any(folder)?;
    spec.with_context(|| {
        format!("{} is not the folder of a study: it has no study.toml", folder.path().display())
    })
}

fn read_spec_if_any(folder: &StudyFolder) -> Result<Option<StudySpec>> {
    let bytes = folder.verify(|name| name.starts_with("tasks/")).and_then(|_| folder.read_own(SPEC));
    let bytes = bytes.map_err(|error| match error {
        Error::Damaged { .. } => Error::In {
            context: format!(
                "the study in {0} cannot be used; if you edited it, delete {0}/{MANIFEST}",
                folder.path().display()
            ),
            source: Box::new(error),
        },
        error => error,
    });
    let Some(bytes) = bytes? else { return Ok(None) };
    let text = String::from_utf8(bytes).map_err(|_| Error::damaged(&folder.spec(), "it is not text"))?;
    StudySpec::from_text(&text, &folder.spec()).map(Some)
}

/// Writes a study's settings to its folder, unless it contains another study. Returns the settings with the paths of
/// task files replaced by those of their copies. Axes only grow: a start with fewer options executes only those runs
/// and keeps the others. Concurrent starts each add their own options.
pub fn begin(folder: &StudyFolder, spec: &StudySpec, start: &Start) -> Result<StudySpec> {
    // Impossible settings are refused before anything is written.
    cells_of(spec)?;
    Beginning::look(folder, spec)?;
    let lock = folder.lock().with_context(|| format!("cannot write {}", folder.spec().display()))?;
    let beginning = Beginning::look(folder, spec)?;
    check_unused(folder)?;
    beginning.write(folder, start, &lock)
}

/// Files of others are never overwritten. A copy of a task may be there: the process that began the study was killed.
fn check_unused(folder: &StudyFolder) -> Result<()> {
    if folder.spec().exists() {
        return Ok(());
    }
    let ours = [STARTS, BASELINES, SLURM, MANIFEST, "runs", "attempts", "report", "slurm", "logs"];
    match ours.map(|name| folder.path().join(name)).into_iter().find(|path| path.exists()) {
        Some(file) => Err(Error::NotAStudy { folder: folder.path().to_owned(), file }),
        None => Ok(()),
    }
}

struct Beginning {
    tasks: KeptTasks,
    spec: StudySpec,
    /// The study in the folder, extended by this start.
    whole: StudySpec,
}

impl Beginning {
    /// Reads the folder without writing.
    fn look(folder: &StudyFolder, spec: &StudySpec) -> Result<Self> {
        let there = read_spec_if_any(folder)?;
        if let Some(field) = there.as_ref().and_then(|there| spec.difference_of_settings(there)) {
            let place = folder.path().display();
            if folder.begun()?.is_empty() {
                bail!(
                    Folder,
                    "{place} contains another study ({field} differs) without any run; remove that folder, or choose another \
                     with --out"
                );
            }
            bail!(
                Folder,
                "{place} contains another study ({field} differs); choose another folder with --out, or resume that study: \
                 touchstream study resume {place}"
            );
        }
        let tasks = KeptTasks::look(folder, [Some(spec), there.as_ref()].into_iter().flatten())?;
        let mut spec = tasks.with_copies(spec);
        let whole = there.map_or_else(|| spec.clone(), |there| spec.merged(&tasks.with_copies(&there)));
        // If this start names no Python, its baselines use the one of an earlier start.
        spec.python.clone_from(&whole.python);
        whole.check_size()?;
        Ok(Self { tasks, spec, whole })
    }

    fn write(self, folder: &StudyFolder, start: &Start, lock: &StudyLock) -> Result<StudySpec> {
        let Self { tasks, spec, whole } = self;
        let path = folder.spec();
        // The names of switches are split where files are, so copies must exist.
        let text = || tasks.as_stored(&whole).to_toml();
        let is_same = !tasks.has_new() && folder.read_own(SPEC)? == Some(text()?.into_bytes());
        if !is_same || !folder.verify(|_| false)? {
            let changes = |name: &str| name == SPEC || name.starts_with("tasks/");
            folder.change(lock, changes, || {
                // Task files are written before the study that refers to them.
                tasks.write()?;
                write_aside_durably(&path, text()?.as_bytes())
                    .with_context(|| format!("cannot write {}", path.display()))
            })?;
        }
        start.note_in(folder)?;
        Ok(spec)
    }
}
