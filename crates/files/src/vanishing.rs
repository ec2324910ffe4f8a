//! Files that another process may delete at any time: what is gone is nothing, not an error.

use std::fs::{self, DirEntry};
use std::io;
use std::path::Path;

/// `None` if what was asked about is not there.
pub fn unless_gone<T>(answer: io::Result<T>) -> io::Result<Option<T>> {
    match answer {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// The entries of a folder; none if it is not there.
pub fn entries_of(folder: &Path) -> io::Result<impl Iterator<Item = io::Result<DirEntry>>> {
    Ok(unless_gone(fs::read_dir(folder))?.into_iter().flatten())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_gone_is_nothing_and_what_fails_fails() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        assert!(unless_gone(fs::metadata(&file)).unwrap().is_none());
        assert_eq!(entries_of(&file).unwrap().count(), 0);
        fs::write(&file, "x").unwrap();
        assert_eq!(unless_gone(fs::metadata(&file)).unwrap().map(|facts| facts.len()), Some(1));
        assert_eq!(entries_of(folder.path()).unwrap().count(), 1);
        assert!(entries_of(&file).is_err(), "a file is no folder");
    }
}
