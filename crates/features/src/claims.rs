//! Who encodes what, when several processes want the same screens.
//!
//! Every screen falls into one of 256 buckets by its key, and a bucket is claimed by locking a file of its own. A
//! process claims some buckets, looks again what is missing in them (the one before may have encoded it), encodes
//! that, and lets them go. It never waits while it holds a claim, so nobody waits for ever; the system lets go for
//! a process that dies. Where the file system has no locks, every claim is granted: screens may then be encoded
//! twice, and stored twice, but never wrongly.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

/// The claims of one store.
#[derive(Debug)]
pub(crate) struct Claims {
    folder: PathBuf,
}

/// The answer to a claim.
#[derive(Debug)]
pub(crate) enum Claim {
    /// Until it is dropped.
    Granted {
        /// `None` where there are no locks.
        _lock: Option<File>,
    },
    /// Another process has it.
    Taken,
}

pub(crate) const CLAIMS_FOLDER: &str = "claims";

impl Claims {
    pub fn open(store_folder: &Path) -> io::Result<Self> {
        let folder = store_folder.join(CLAIMS_FOLDER);
        fs::create_dir_all(&folder)?;
        Ok(Self { folder })
    }

    /// Asks for a bucket.
    pub fn claim(&self, bucket: u8) -> io::Result<Claim> {
        let path = self.folder.join(format!("{bucket:02x}.lock"));
        let file = File::options().write(true).create(true).truncate(false).open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Claim::Granted { _lock: Some(file) }),
            Err(TryLockError::WouldBlock) => Ok(Claim::Taken),
            Err(TryLockError::Error(_)) => Ok(Claim::Granted { _lock: None }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_has_one_owner_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let [first, second] = [(); 2].map(|()| Claims::open(folder.path()).unwrap());
        let claim = first.claim(7).unwrap();
        assert!(matches!(claim, Claim::Granted { .. }));
        assert!(matches!(second.claim(7).unwrap(), Claim::Taken));
        assert!(matches!(second.claim(8).unwrap(), Claim::Granted { .. }));
        drop(claim);
        assert!(matches!(second.claim(7).unwrap(), Claim::Granted { .. }));
    }
}
