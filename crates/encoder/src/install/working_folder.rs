//! The temporary folder of an installation, in the cache.
//!
//! It contains a file that is locked while the installation runs; the system releases the lock if the process is killed.
//! A folder whose lock is free has been abandoned. A process that removes it holds the lock meanwhile.

use super::InstallError;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;
use touchstream_files::{entries_of, refuse_special_file};

/// Prefix of the names of temporary folders in the cache.
const WORKING_PREFIX: &str = ".installing-";
/// The locked file in the folder.
const LOCK_NAME: &str = "in-use.lock";
/// On file systems without locks, folders of this age are considered abandoned.
const ABANDONED_AFTER: Duration = Duration::from_secs(24 * 3600);

/// A folder in the cache that is removed when this is dropped.
pub(super) struct WorkingFolder {
    folder: TempDir,
    /// `None` on file systems without locks.
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
                // Another process removed the folder before we could lock it.
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
    refuse_special_file(&folder.join(LOCK_NAME))?;
    File::options().write(true).create(true).truncate(false).open(folder.join(LOCK_NAME))
}

/// The folder of a killed installation. While this value exists, other processes do not remove the folder.
#[derive(Debug)]
pub struct AbandonedFolder {
    _lock: Option<File>,
}

impl AbandonedFolder {
    /// `None` if an installation is using the folder, or another process is removing it.
    pub fn claim(folder: &Path) -> Option<Self> {
        // In a read-only folder, the lock file may exist, or cannot be created by any process.
        let Ok(lock) = open_lock(folder).or_else(|_| File::open(folder.join(LOCK_NAME))) else {
            return Some(Self { _lock: None });
        };
        match lock.try_lock() {
            Ok(()) => Some(Self { _lock: Some(lock) }),
            Err(TryLockError::WouldBlock) => None,
            Err(TryLockError::Error(_)) => {
                let age = || fs::metadata(folder).ok()?.modified().ok()?.elapsed().ok();
                age().is_some_and(|age| age > ABANDONED_AFTER).then_some(Self { _lock: None })
            }
        }
    }
}

/// The temporary folders in a cache folder, used or abandoned, sorted.
pub fn working_folders(cache_dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut folders = Vec::new();
    for entry in entries_of(cache_dir)? {
        let entry = entry?;
        let is_named = entry.file_name().to_str().is_some_and(|name| name.starts_with(WORKING_PREFIX));
        // Links are excluded: their targets are not ours.
        if is_named && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            folders.push(entry.path());
        }
    }
    folders.sort_unstable();
    Ok(folders)
}

/// Removes the folders of killed installations; errors are ignored.
pub(super) fn remove_abandoned(cache_dir: &Path) {
    for folder in working_folders(cache_dir).unwrap_or_default() {
        if let Some(_claim) = AbandonedFolder::claim(&folder) {
            let _ = fs::remove_dir_all(folder);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_in_use_is_kept_and_an_abandoned_one_is_removed() {
        let cache = tempfile::tempdir().unwrap();
        let working = WorkingFolder::create(cache.path()).unwrap();
        let [old, killed, other] =
            [".installing-old", ".installing-killed", "other"].map(|name| cache.path().join(name));
        fs::create_dir_all(old.join("tmp")).unwrap();
        fs::create_dir(&other).unwrap();
        fs::create_dir(&killed).unwrap();
        drop(open_lock(&killed).unwrap());
        remove_abandoned(cache.path());
        assert!(!old.exists() && !killed.exists() && other.exists());
        assert_eq!(working_folders(cache.path()).unwrap(), [working.path()]);
        assert!(AbandonedFolder::claim(working.path()).is_none());
        drop(working);
        assert!(working_folders(cache.path()).unwrap().is_empty());
    }
}
