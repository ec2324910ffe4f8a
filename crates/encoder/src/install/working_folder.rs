//! The folder in the cache that an installation works in.
//!
//! It holds a file that is locked as long as the installation lives; the system releases the lock if it is killed. A
//! folder whose lock is free is rubbish, and whoever removes it holds the lock meanwhile.

use super::InstallError;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;
use touchstream_files::entries_of;

/// How the names of folders in the cache begin that an installation works in; one that is killed leaves its own behind.
const WORKING_PREFIX: &str = ".installing-";
/// The file in it that is locked.
const LOCK_NAME: &str = "in-use.lock";
/// Where there are no locks, folders are rubbish after so long.
const LEFT_BEHIND_AFTER: Duration = Duration::from_secs(24 * 3600);

/// A folder in the cache that is gone when it is dropped.
pub(super) struct WorkingFolder {
    folder: TempDir,
    /// `None` where there are no locks.
    _lock: Option<File>,
}

impl WorkingFolder {
    pub fn create(cache_dir: &Path) -> Result<Self, InstallError> {
        let unwritable = |error| InstallError::UnwritableCache { path: cache_dir.to_owned(), error };
        fs::create_dir_all(cache_dir).map_err(unwritable)?;
        loop {
            let folder =
                tempfile::Builder::new().prefix(WORKING_PREFIX).tempdir_in(cache_dir).map_err(unwritable)?;
            let lock = match open_lock(folder.path()) {
                Ok(lock) => lock,
                // Taken for rubbish before it was locked.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(unwritable(error)),
            };
            match lock.try_lock() {
                Ok(()) if !folder.path().join(LOCK_NAME).exists() => {}
                Ok(()) => return Ok(Self { folder, _lock: Some(lock) }),
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(_)) => return Ok(Self { folder, _lock: None }),
            }
        }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

fn open_lock(folder: &Path) -> io::Result<File> {
    File::options().write(true).create(true).truncate(false).open(folder.join(LOCK_NAME))
}

/// A folder of an installation that was killed. As long as this lives, nobody else takes it for one.
#[derive(Debug)]
pub struct LeftBehind {
    _lock: Option<File>,
}

impl LeftBehind {
    /// `None` if an installation works in the folder, or somebody else is removing it.
    pub fn claim(folder: &Path) -> Option<Self> {
        // A folder that can only be read has its lock already, or no one who could make it.
        let Ok(lock) = open_lock(folder).or_else(|_| File::open(folder.join(LOCK_NAME))) else {
            return Some(Self { _lock: None });
        };
        match lock.try_lock() {
            Ok(()) => Some(Self { _lock: Some(lock) }),
            Err(TryLockError::WouldBlock) => None,
            Err(TryLockError::Error(_)) => {
                let age = || fs::metadata(folder).ok()?.modified().ok()?.elapsed().ok();
                age().is_some_and(|age| age > LEFT_BEHIND_AFTER).then_some(Self { _lock: None })
            }
        }
    }
}

/// The folders in a cache folder that installations work in, or have left behind, in order.
pub fn working_folders(cache_dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut folders = Vec::new();
    for entry in entries_of(cache_dir)? {
        let entry = entry?;
        let is_named = entry.file_name().to_str().is_some_and(|name| name.starts_with(WORKING_PREFIX));
        // Not of links: what they lead to is not ours.
        if is_named && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            folders.push(entry.path());
        }
    }
    folders.sort_unstable();
    Ok(folders)
}

/// Removes what installations that were killed have left. Best effort: it is only rubbish.
pub(super) fn remove_left_behind(cache_dir: &Path) {
    for folder in working_folders(cache_dir).unwrap_or_default() {
        if let Some(_claim) = LeftBehind::claim(&folder) {
            let _ = fs::remove_dir_all(folder);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_in_use_is_left_and_one_that_was_left_behind_is_removed_at_once() {
        let cache = tempfile::tempdir().unwrap();
        let working = WorkingFolder::create(cache.path()).unwrap();
        let [old, killed, other] =
            [".installing-old", ".installing-killed", "other"].map(|name| cache.path().join(name));
        fs::create_dir_all(old.join("tmp")).unwrap();
        fs::create_dir(&other).unwrap();
        fs::create_dir(&killed).unwrap();
        drop(open_lock(&killed).unwrap());
        remove_left_behind(cache.path());
        assert!(!old.exists() && !killed.exists() && other.exists());
        assert_eq!(working_folders(cache.path()).unwrap(), [working.path()]);
        assert!(LeftBehind::claim(working.path()).is_none());
        drop(working);
        assert!(working_folders(cache.path()).unwrap().is_empty());
    }
}
