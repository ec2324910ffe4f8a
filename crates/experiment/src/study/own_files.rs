//! The study's own files, outside of its runs: settings, copies of tasks, baselines and submissions, with their manifest.

use crate::error::{Context, Error, Result};
use crate::manifest::{MISSING, Manifest};
use crate::study::folder::StudyFolder;
use crate::study::study_lock::StudyLock;
use std::fs;
use touchstream_files::{entries_of, none_if_not_found, read_at_most};

pub const SPEC: &str = "study.toml";
pub const BASELINES: &str = "baselines.json";
pub const SLURM: &str = "slurm.json";
const MAX_BYTES: u64 = 64 << 20;

impl StudyFolder {
    /// Paths from the study's folder, in order.
    pub fn own_files(&self) -> Result<Vec<String>> {
        let mut names: Vec<String> = [SPEC, BASELINES, SLURM].map(String::from).to_vec();
        names.retain(|name| self.path().join(name).is_file());
        for (inner, is_ours) in [("tasks", is_task as fn(&str) -> bool), ("slurm", |_| true)] {
            let folder = self.path().join(inner);
            for entry in entries_of(&folder).at(&folder)? {
                let name = entry.at(&folder)?.file_name().to_string_lossy().into_owned();
                if !name.starts_with('.') && is_ours(&name) {
                    names.push(format!("{inner}/{name}"));
                }
            }
        }
        names.sort_unstable();
        Ok(names)
    }

    /// Compares some of the study's own files with its manifest; `false` if there is none.
    pub fn verify(&self, is_asked: impl Fn(&str) -> bool) -> Result<bool> {
        self.unchanged(|manifest| {
            let Some(manifest) = manifest else { return Ok(false) };
            for name in manifest.names().filter(|name| is_asked(name)) {
                if let Some(problem) = manifest.problem_of(name, self.path())? {
                    return Err(Error::damaged(&self.path().join(name), problem));
                }
            }
            Ok(true)
        })
    }

    /// Reads one of the study's own files once, and compares what was read. `None` if there is no such file.
    pub fn read_own(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let path = self.path().join(name);
        self.unchanged(|manifest| {
            let bytes = none_if_not_found(read_at_most(&path, MAX_BYTES)).at(&path)?;
            match (manifest, &bytes) {
                (Some(manifest), Some(bytes)) => manifest.check(name, &path, bytes)?,
                (Some(manifest), None) if manifest.has(name) => return Err(Error::damaged(&path, MISSING)),
                _ => {}
            }
            Ok(bytes)
        })
    }

    /// Looks at files and manifest again if another process has changed both meanwhile.
    fn unchanged<T>(&self, look: impl Fn(Option<&Manifest>) -> Result<T>) -> Result<T> {
        loop {
            // What was unpacked has been compared, and has no manifest of its own.
            let manifest = if self.is_unpacked() { None } else { Manifest::read(self.path())? };
            let found = look(manifest.as_ref());
            if found.is_ok() || manifest.is_none() || Manifest::read(self.path()).ok().flatten() == manifest {
                return found;
            }
        }
    }

    /// Changes some of the study's own files, of which none other may be damaged. There is no manifest meanwhile: a
    /// process that is killed leaves a study without one, not one that seems damaged.
    pub(crate) fn change<T>(
        &self,
        _lock: &StudyLock,
        changes: impl Fn(&str) -> bool,
        change: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        // What can be computed again stops nothing.
        if let Err(Error::Damaged { .. }) = self.verify(|name| name == BASELINES) {
            self.move_own_aside(BASELINES)?;
        }
        self.verify(|name| name != BASELINES && !changes(name))?;
        Manifest::remove(self.path())?;
        let changed = change();
        let list = || Manifest::new(None).with_files_in(self.path(), self.own_files()?)?.write(self.path());
        let listed = list();
        let changed = changed?;
        listed.map(|()| changed)
    }

    /// Moves one of the study's own files to the next free name in the folder.
    pub(crate) fn move_own_aside(&self, name: &str) -> Result<()> {
        let path = self.path().join(name);
        let free = (1..).map(|number| self.path().join(format!("{name}.damaged-{number}")));
        let aside = free
            .into_iter()
            .find(|path| !path.exists())
            .unwrap_or_else(|| unreachable!("numbers do not end"));
        none_if_not_found(fs::rename(&path, aside)).at(&path).map(|_| ())
    }
}

fn is_task(name: &str) -> bool {
    name.ends_with(".toml")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_file_is_named_and_no_change_hides_it() {
        let place = tempfile::tempdir().unwrap();
        let folder = StudyFolder::at(place.path());
        let write = |name: &str, text: &str| fs::write(place.path().join(name), text).unwrap();
        fs::create_dir(place.path().join("tasks")).unwrap();
        write(SPEC, "one");
        write("notes.txt", "the user's");
        assert!(!folder.verify(|_| true).unwrap(), "a study of an older program");
        let change = |text: &str| {
            folder.change(
                &folder.lock().unwrap(),
                |name| name == SPEC,
                || {
                    assert_eq!(Manifest::read(place.path()).unwrap(), None, "none while files change");
                    write(SPEC, text);
                    Ok(())
                },
            )
        };
        change("two").unwrap();
        write("tasks/a.toml", "task");
        change("three").unwrap();
        assert!(folder.verify(|_| true).unwrap());
        assert_eq!(folder.read_own(SPEC).unwrap().unwrap(), b"three");
        assert_eq!(folder.read_own(BASELINES).unwrap(), None);
        write("notes.txt", "edited");
        folder.verify(|_| true).unwrap();

        write("tasks/a.toml", "tusk");
        assert!(folder.verify(|_| true).unwrap_err().text().contains("tasks/a.toml: it is damaged"));
        folder.verify(|name| name == SPEC).unwrap();
        assert!(change("four").is_err());
        assert_eq!(folder.read_own(SPEC).unwrap().unwrap(), b"three");
        write(SPEC, "threE");
        assert!(folder.read_own(SPEC).unwrap_err().text().contains("study.toml: it is damaged"));
        fs::remove_file(place.path().join(SPEC)).unwrap();
        assert!(folder.read_own(SPEC).unwrap_err().text().contains("study.toml: it is missing"));
    }
}
