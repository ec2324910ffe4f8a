//! Access to files that another process may delete at any time.

use std::fs::{self, DirEntry};
use std::io;
use std::path::Path;

/// `None` if the file does not exist.
pub fn none_if_not_found<T>(answer: io::Result<T>) -> io::Result<Option<T>> {
    match answer {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// The entries of a folder; none if it does not exist.
pub fn entries_of(folder: &Path) -> io::Result<impl Iterator<Item = io::Result<DirEntry>>> {
    Ok(none_if_not_found(fs::read_dir(folder))?.into_iter().flatten())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_files_are_none_and_other_errors_remain() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        assert!(none_if_not_found(fs::metadata(&file)).unwrap().is_none());
        assert_eq!(entries_of(&file).unwrap().count(), 0);
        fs::write(&file, "x").unwrap();
        assert_eq!(none_if_not_found(fs::metadata(&file)).unwrap().map(|facts| facts.len()), Some(1));
        assert_eq!(entries_of(folder.path()).unwrap().count(), 1);
        assert!(entries_of(&file).is_err(), "a file is not a folder");
    }
}
