//! The lock of a study, which serializes changes of its settings.

use crate::error::{Context, Result};
use crate::study::folder::StudyFolder;
use std::fs::{self, File, OpenOptions};
use std::io::ErrorKind;
use touchstream_files::refuse_special_file;

/// Released when it is dropped or its process ends; file servers enforce it across machines.
#[derive(Debug)]
pub struct StudyLock {
    _locked: File,
}

impl StudyFolder {
    /// Waits until no other process changes the study; returns at once where the file system has no locks.
    pub fn lock(&self) -> Result<StudyLock> {
        fs::create_dir_all(self.path()).at(self.path())?;
        // The file is never deleted: a lock on a deleted file excludes no other process.
        let path = self.path().join("study.lock");
        refuse_special_file(&path).at(&path)?;
        let open = || OpenOptions::new().create(true).append(true).open(&path);
        let file = open().at(&path)?;
        // Servers without locks return various errors.
        while file.lock().is_err_and(|error| error.kind() == ErrorKind::Interrupted) {}
        Ok(StudyLock { _locked: file })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;
    use std::time::Duration;

    /// Each thread reads a number, waits, and writes the next; without the lock, increments would be lost.
    #[test]
    fn what_is_changed_under_the_lock_is_never_lost() {
        let place = tempfile::tempdir().unwrap();
        let folder = StudyFolder::at(place.path());
        let file = place.path().join("number");
        fs::write(&file, "0").unwrap();
        thread::scope(|scope| {
            for _ in 0..6 {
                scope.spawn(|| {
                    for _ in 0..5 {
                        let _lock = folder.lock().unwrap();
                        let number: u32 = fs::read_to_string(&file).unwrap().parse().unwrap();
                        thread::sleep(Duration::from_millis(1));
                        fs::write(&file, (number + 1).to_string()).unwrap();
                    }
                });
            }
        });
        assert_eq!(fs::read_to_string(&file).unwrap(), "30");
    }
}
