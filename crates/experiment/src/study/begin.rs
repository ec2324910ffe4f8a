//! Writes a study's settings into its folder at the first start, and extends them at later starts.

use crate::error::{Context, Result, bail};
use crate::study::cell::cells_of;
use crate::study::folder::StudyFolder;
use crate::study::kept_tasks::KeptTasks;
use crate::study::provenance::Start;
use crate::study::spec::StudySpec;
use touchstream_files::write_aside_durably;

pub fn read_spec(folder: &StudyFolder) -> Result<StudySpec> {
    let spec = read_spec_if_any(folder)?;
    spec.with_context(|| {
        format!("{} is not the folder of a study: it has no study.toml", folder.path().display())
    })
}

fn read_spec_if_any(folder: &StudyFolder) -> Result<Option<StudySpec>> {
    let path = folder.spec();
    match path.try_exists() {
        Ok(true) => StudySpec::read(&path).map(Some),
        Ok(false) => Ok(None),
        Err(error) => Err(error).at(&path),
    }
}

/// Writes a study's settings to its folder, unless it contains another study. Returns the settings with the paths of
/// task files replaced by those of their copies. Axes only grow: a start with fewer options executes only those runs
/// and keeps the others. Concurrent starts each add their own options.
pub fn begin(folder: &StudyFolder, spec: &StudySpec, start: &Start) -> Result<StudySpec> {
    // Impossible settings are refused before anything is written.
    cells_of(spec)?;
    Beginning::look(folder, spec)?;
    let _lock = folder.lock().with_context(|| format!("cannot write {}", folder.spec().display()))?;
    Beginning::look(folder, spec)?.write(folder, start)
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

    fn write(self, folder: &StudyFolder, start: &Start) -> Result<StudySpec> {
        let Self { tasks, spec, whole } = self;
        // Task files are written before the study that refers to them.
        tasks.write()?;
        let path = folder.spec();
        write_aside_durably(&path, tasks.as_stored(&whole).to_toml()?.as_bytes())
            .with_context(|| format!("cannot write {}", path.display()))?;
        start.note_in(folder)?;
        Ok(spec)
    }
}
