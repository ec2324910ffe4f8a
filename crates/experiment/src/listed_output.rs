//! Several files in a folder that the user chose, which may contain other files.

use crate::error::{Context, Error, Result};
use crate::manifest::Manifest;
use crate::output::write_file;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use touchstream_files::none_if_not_found;

/// Files by path from their folder.
pub type Files = BTreeMap<String, Vec<u8>>;

/// Which files may be replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replaced {
    Listed,
    /// The folder is known to be this program's.
    Any,
}

/// Writes files into a folder, and their manifest under the name `list`. Of the files that are there, only those that an
/// earlier manifest lists are replaced; those that are no longer written are deleted at the end.
pub fn write_listed(files: &Files, folder: &Path, list: &str, replaced: Replaced) -> Result<()> {
    // Of a damaged manifest nothing is known: no file is deleted.
    let before = Manifest::read_as(folder, list).or_else(|error| match error {
        Error::Damaged { .. } => Ok(None),
        error => Err(error),
    })?;
    let is_replaceable =
        |name: &str| replaced == Replaced::Any || before.as_ref().is_some_and(|before| before.has(name));
    if let Some(name) = files.keys().find(|name| folder.join(name).exists() && !is_replaceable(name)) {
        return Err(Error::NotOurs { file: folder.join(name) });
    }
    let mut manifest = Manifest::new(None);
    files.iter().for_each(|(name, bytes)| manifest.add(name.clone(), bytes));
    // Whatever happens from here on, the next start knows which files are its own.
    let both = before.as_ref().map_or_else(|| manifest.clone(), |before| before.with(&manifest));
    both.write_as(folder, list)?;
    files.par_iter().try_for_each(|(name, bytes)| write_file(&folder.join(name), bytes))?;
    for name in before.iter().flat_map(Manifest::names).filter(|name| !files.contains_key(*name)) {
        // What the user has changed since is the user's.
        if both.problem_of(name, folder)?.is_none() {
            let path = folder.join(name);
            none_if_not_found(fs::remove_file(&path)).at(&path)?;
        }
    }
    manifest.write_as(folder, list)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::MANIFEST;

    #[test]
    fn only_what_an_earlier_start_wrote_is_replaced_or_deleted() {
        let place = tempfile::tempdir().unwrap();
        let path = |name: &str| place.path().join(name);
        let put = |name: &str, text: &str| {
            fs::create_dir_all(path(name).parent().unwrap()).unwrap();
            fs::write(path(name), text).unwrap();
        };
        let read = |name: &str| fs::read_to_string(path(name)).unwrap_or_default();
        let report = |names: &[&str]| {
            let files: Files =
                names.iter().map(|name| ((*name).to_owned(), name.as_bytes().to_vec())).collect();
            write_listed(&files, place.path(), MANIFEST, Replaced::Listed)
        };
        put("figures/mine.svg", "mine");
        put("index.html", "mine");
        let error = report(&["index.html", "figures/a.svg"]).unwrap_err().text();
        assert!(error.contains("index.html"), "{error}");
        assert!(!path("figures/a.svg").exists() && read("index.html") == "mine", "nothing was written");
        fs::remove_file(path("index.html")).unwrap();
        report(&["index.html", "figures/a.svg", "figures/b.svg", "figures/c.svg"]).unwrap();
        put("figures/c.svg", "edited");
        report(&["index.html", "figures/a.svg"]).unwrap();
        assert_eq!([read("figures/mine.svg"), read("figures/c.svg")], ["mine", "edited"]);
        assert!(!path("figures/b.svg").exists() && read("figures/a.svg") == "figures/a.svg");
        // A file of an earlier report that the user has put back is the user's.
        put("figures/b.svg", "mine");
        assert!(report(&["index.html", "figures/b.svg"]).is_err());
        report(&["index.html"]).unwrap();
        assert_eq!([read("figures/mine.svg"), read("figures/b.svg")], ["mine", "mine"]);
        // Nothing is known of what a damaged manifest lists.
        put(MANIFEST, "{}");
        assert!(report(&["index.html"]).is_err());
    }
}
