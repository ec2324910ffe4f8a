//! Divides work among processes that encode the same screens.
//!
//! Each screen belongs to one of 256 buckets, by its key, and each bucket has a lock file. A process locks some
//! buckets, checks again which of their screens are missing (another process may have encoded them meanwhile), encodes
//! these, and releases the locks. It never waits while it holds a lock, so there are no deadlocks; the system releases
//! the locks of a process that dies. On file systems without locks, every attempt succeeds: screens may then be encoded
//! and stored twice, but never incorrectly.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use touchstream_files::refuse_special_file;

/// The bucket locks of one store.
#[derive(Debug)]
pub(crate) struct BucketLocks {
    folder: PathBuf,
}

/// The result of trying to lock a bucket.
#[derive(Debug)]
pub(crate) enum BucketLock {
    /// Locked until this is dropped.
    Acquired {
        /// `None` on file systems without locks.
        _lock: Option<File>,
    },
    /// Another process holds the lock.
    HeldElsewhere,
}

pub(crate) const LOCKS_FOLDER: &str = "claims";

impl BucketLocks {
    pub fn open(store_folder: &Path) -> io::Result<Self> {
        let folder = store_folder.join(LOCKS_FOLDER);
        fs::create_dir_all(&folder)?;
        Ok(Self { folder })
    }

    pub fn try_lock(&self, bucket: u8) -> io::Result<BucketLock> {
        let path = self.folder.join(format!("{bucket:02x}.lock"));
        refuse_special_file(&path)?;
        let file = File::options().write(true).create(true).truncate(false).open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(BucketLock::Acquired { _lock: Some(file) }),
            Err(TryLockError::WouldBlock) => Ok(BucketLock::HeldElsewhere),
            Err(TryLockError::Error(_)) => Ok(BucketLock::Acquired { _lock: None }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_has_one_owner_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let [first, second] = [(); 2].map(|()| BucketLocks::open(folder.path()).unwrap());
        let lock = first.try_lock(7).unwrap();
        assert!(matches!(lock, BucketLock::Acquired { .. }));
        assert!(matches!(second.try_lock(7).unwrap(), BucketLock::HeldElsewhere));
        assert!(matches!(second.try_lock(8).unwrap(), BucketLock::Acquired { .. }));
        drop(lock);
        assert!(matches!(second.try_lock(7).unwrap(), BucketLock::Acquired { .. }));
    }
}
