//! Lists files and folders of a source, in the same order on every machine.

use crate::error::SourceError;
use std::collections::{BTreeMap, VecDeque};
use std::fs::{self, DirEntry};
use std::path::{Path, PathBuf};

/// A file of a source, or a folder whose files cannot be listed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ListedFile {
    /// Relative to the source's folder, with `/` on every system.
    pub relative: String,
    pub path: PathBuf,
    /// Why the file must not be opened, if this is already known.
    pub fault: Option<String>,
}

impl ListedFile {
    pub fn new(path: PathBuf, relative: String) -> Self {
        Self { relative, path, fault: None }
    }

    pub fn with_fault(self, fault: impl Into<String>) -> Self {
        Self { fault: Some(fault.into()), ..self }
    }
}

/// Maximum depth of nested folders.
const MAX_DEPTH: usize = 8;

/// The fault of files with names that are not valid text.
pub const NOT_UTF8: &str = "its name is not UTF-8";

/// All files below a folder of the source, sorted. Names that begin with a dot are ignored. Folders that cannot be
/// listed, are nested too deeply, or link to a folder that is already listed are included as files with a fault.
pub fn list_files(root: &Path, folder: &str) -> Result<Vec<ListedFile>, SourceError> {
    let start = root.join(folder);
    let canonical_start = fs::canonicalize(&start).map_err(SourceError::io(&start))?;
    let mut files = Vec::new();
    let mut listed: BTreeMap<PathBuf, String> = BTreeMap::new();
    let mut folders = VecDeque::from([(ListedFile::new(start, folder.to_owned()), 0)]);
    // Links are followed after all folders, so that a folder is listed under its own path.
    let mut links = VecDeque::new();
    while let Some((folder, depth)) = folders.pop_front().or_else(|| links.pop_front()) {
        let canonical = fs::canonicalize(&folder.path).unwrap_or_else(|_| folder.path.clone());
        let fault = if depth > MAX_DEPTH {
            Some(format!("it is nested more than {MAX_DEPTH} folders deep, so its files are not used"))
        } else if let Some(first) = listed.get(&canonical) {
            Some(format!("it is the same folder as {first}"))
        } else if depth > 0 && canonical_start.starts_with(&canonical) {
            Some("it links to a folder above itself".to_owned())
        } else {
            None
        };
        if let Some(fault) = fault {
            files.push(folder.with_fault(fault));
            continue;
        }
        let entries = match visible_entries(&folder.path) {
            Ok(entries) => entries,
            Err(error) if depth == 0 => return Err(error),
            Err(error) => {
                files.push(folder.with_fault(format!("cannot be read: {error}")));
                continue;
            }
        };
        for entry in entries {
            let relative = format!("{}/{}", folder.relative, entry.file_name().to_string_lossy());
            let found = ListedFile::new(entry.path(), relative);
            match (found.path.is_dir(), found.path.is_symlink()) {
                (false, _) => files.push(found),
                (true, false) => folders.push_back((found, depth + 1)),
                (true, true) => links.push_back((found, depth + 1)),
            }
        }
        listed.insert(canonical, folder.relative);
    }
    files.sort();
    Ok(files)
}

/// The folders directly in a folder.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Folders {
    /// Sorted.
    pub names: Vec<String>,
    /// Sorted, with replacement characters.
    pub not_utf8: Vec<String>,
}

/// The folders directly in a folder. Names that begin with a dot are ignored.
pub fn list_folders(path: &Path) -> Result<Folders, SourceError> {
    let mut folders = Folders::default();
    for entry in visible_entries(path)?.into_iter().filter(|entry| entry.path().is_dir()) {
        match entry.file_name().into_string() {
            Ok(name) => folders.names.push(name),
            Err(name) => folders.not_utf8.push(name.to_string_lossy().into_owned()),
        }
    }
    Ok(folders)
}

/// Sorted by name.
fn visible_entries(path: &Path) -> Result<Vec<DirEntry>, SourceError> {
    let entries = fs::read_dir(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let mut entries = entries.map_err(SourceError::io(path))?;
    entries.retain(|entry| !entry.file_name().to_string_lossy().starts_with('.'));
    entries.sort_by_key(DirEntry::file_name);
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::put;

    #[test]
    fn files_are_sorted_and_hidden_ones_are_ignored() {
        let root = tempfile::tempdir().unwrap();
        for name in ["a/z.jpg", "a/.DS_Store", "a/b/c.jpg", "a/A.jpg", "b/x.jpg", ".git/config"] {
            put(root.path(), name, "");
        }
        let files = list_files(root.path(), "a").unwrap();
        let names: Vec<&str> = files.iter().map(|file| file.relative.as_str()).collect();
        assert_eq!(names, ["a/A.jpg", "a/b/c.jpg", "a/z.jpg"]);
        assert_eq!(list_folders(root.path()).unwrap().names, ["a", "b"]);
        let error = list_files(root.path(), "none").unwrap_err();
        assert!(error.to_string().contains("none"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn each_folder_is_listed_once_and_preferably_not_through_a_link() {
        use std::os::unix::fs::symlink;
        let (root, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        put(root.path(), "a/z/1.jpg", "");
        put(elsewhere.path(), "2.jpg", "");
        fs::create_dir(root.path().join("a/b")).unwrap();
        for (target, link) in [
            (Path::new("../z"), "a/b/link"),
            (Path::new("z"), "a/c"),
            (Path::new(".."), "a/up"),
            (elsewhere.path(), "a/other"),
            (elsewhere.path(), "a/other_again"),
        ] {
            symlink(target, root.path().join(link)).unwrap();
        }
        let files = list_files(root.path(), "a").unwrap();
        let found: Vec<(&str, Option<&str>)> =
            files.iter().map(|file| (file.relative.as_str(), file.fault.as_deref())).collect();
        let expected = [
            ("a/b/link", Some("it is the same folder as a/z")),
            ("a/c", Some("it is the same folder as a/z")),
            ("a/other/2.jpg", None),
            ("a/other_again", Some("it is the same folder as a/other")),
            ("a/up", Some("it links to a folder above itself")),
            ("a/z/1.jpg", None),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn folders_are_listed_down_to_the_maximum_depth() {
        let root = tempfile::tempdir().unwrap();
        let deepest = format!("a{}", "/x".repeat(MAX_DEPTH));
        put(root.path(), &format!("{deepest}/1.jpg"), "");
        put(root.path(), &format!("{deepest}/x/2.jpg"), "");
        let files = list_files(root.path(), "a").unwrap();
        let [kept, cut_off] = &files[..] else { panic!("{files:?}") };
        assert_eq!((&kept.relative, &kept.fault), (&format!("{deepest}/1.jpg"), &None));
        assert_eq!(cut_off.relative, format!("{deepest}/x"));
        assert!(cut_off.fault.is_some());
    }
}
