//! Files and folders of a source, in one order on every machine.

use crate::error::SourceError;
use std::fs::{self, DirEntry};
use std::path::{Path, PathBuf};

/// A file of a source.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ListedFile {
    /// Below the source's folder, with `/` between names on every system.
    pub relative: String,
    /// Where to open it.
    pub path: PathBuf,
}

/// How deep folders may lie within each other. Ends loops of links.
const MAX_DEPTH: usize = 8;

/// All files below a folder of the source, sorted. Names that begin with a dot are passed over.
pub fn list_files(root: &Path, folder: &str) -> Result<Vec<ListedFile>, SourceError> {
    let mut files = Vec::new();
    gather(&root.join(folder), folder, MAX_DEPTH, &mut files)?;
    files.sort();
    Ok(files)
}

fn gather(path: &Path, relative: &str, depth: usize, files: &mut Vec<ListedFile>) -> Result<(), SourceError> {
    for entry in visible_entries(path)? {
        let (path, relative) = (entry.path(), format!("{relative}/{}", entry.file_name().to_string_lossy()));
        if !path.is_dir() {
            files.push(ListedFile { relative, path });
        } else if depth > 0 {
            gather(&path, &relative, depth - 1, files)?;
        }
    }
    Ok(())
}

/// Names of the folders directly in a folder, sorted.
pub fn list_folders(path: &Path) -> Result<Vec<String>, SourceError> {
    let folders = visible_entries(path)?.into_iter().filter(|entry| entry.path().is_dir());
    let mut names: Vec<String> =
        folders.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    Ok(names)
}

fn visible_entries(path: &Path) -> Result<Vec<DirEntry>, SourceError> {
    let entries = fs::read_dir(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let mut entries = entries.map_err(SourceError::io(path))?;
    entries.retain(|entry| !entry.file_name().to_string_lossy().starts_with('.'));
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::put;

    #[test]
    fn files_come_sorted_and_hidden_ones_not_at_all() {
        let root = tempfile::tempdir().unwrap();
        for name in ["a/z.jpg", "a/.DS_Store", "a/b/c.jpg", "a/A.jpg", "b/x.jpg", ".git/config"] {
            put(root.path(), name, "");
        }
        let files = list_files(root.path(), "a").unwrap();
        let names: Vec<&str> = files.iter().map(|file| file.relative.as_str()).collect();
        assert_eq!(names, ["a/A.jpg", "a/b/c.jpg", "a/z.jpg"]);
        assert_eq!(list_folders(root.path()).unwrap(), ["a", "b"]);
        let error = list_files(root.path(), "none").unwrap_err();
        assert!(error.to_string().contains("none"), "{error}");
    }
}
