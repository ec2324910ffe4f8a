//! Files that are in memory, as those of a packed study: thousands are read at once, and none is written.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The bytes of files by path.
#[derive(Debug, Default)]
pub struct FilesInMemory {
    files: BTreeMap<PathBuf, Vec<u8>>,
}

impl FilesInMemory {
    pub fn insert(&mut self, path: PathBuf, bytes: Vec<u8>) {
        self.files.insert(path, bytes);
    }

    pub fn get(&self, path: &Path) -> Option<&[u8]> {
        self.files.get(path).map(Vec::as_slice)
    }

    /// Names of the files and folders in a folder; some names are repeated.
    pub fn names_in<'a>(&'a self, folder: &'a Path) -> impl Iterator<Item = String> + 'a {
        let inside = self.files.keys().filter_map(move |path| path.strip_prefix(folder).ok());
        inside.filter_map(|path| Some(path.components().next()?.as_os_str().to_string_lossy().into_owned()))
    }
}
