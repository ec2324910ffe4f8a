//! Stores facts about image files (hash, size, validity), so that each file is decoded for checking only once and not
//! at every start.

use crate::decode::{DecodeError, Upright, decode_rgb};
use crate::listing::ListedFile;
use crate::pixels::RgbImage;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use touchstream_env::stimuli::StimulusError;
use touchstream_files::{
    FileState, Progress, image_file_metadata, metadata_at_most, read_at_most, read_image_file, settled_state,
    state_of, unwritable_cache, write_aside,
};

/// Must be raised whenever the check would have another result for the same bytes.
const INDEX_VERSION: u32 = 2;
const MAX_INDEX_BYTES: u64 = 1 << 30;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileFacts {
    pub hash: blake3::Hash,
    /// Width and height, or why the file is not a valid image.
    pub verdict: Result<(u32, u32), String>,
}

/// A file's entry in the index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct IndexEntry {
    state: FileState,
    hash: String,
    verdict: Result<(u32, u32), String>,
}

#[derive(Default, Serialize, Deserialize)]
struct IndexFile {
    version: u32,
    root: PathBuf,
    files: BTreeMap<String, IndexEntry>,
}

/// Checks all files in parallel, by decoding them unless the index in `cache_dir` has an entry with the same length,
/// times and inode. Returns facts in the order of `files`; if the index cannot be written, adds a note.
pub fn examine(
    root: &Path,
    files: &[ListedFile],
    upright: Upright,
    cache_dir: Option<&Path>,
    notes: &mut Vec<String>,
    progress: &dyn Progress,
) -> Vec<FileFacts> {
    let index_path = cache_dir.map(|cache_dir| index_path(cache_dir, root, upright));
    let (mut index, trusted_before) = index_path.as_deref().map(read_index).unwrap_or_default();
    progress.start("checking images", files.len() as u64);
    let examined: Vec<(FileFacts, Option<IndexEntry>)> = files
        .par_iter()
        .map(|file| {
            let known = index.files.get(&file.relative);
            let result = examine_one(file, upright, known, trusted_before);
            progress.advance(1);
            result
        })
        .collect();
    progress.finish();

    let mut n_new = 0;
    let mut facts = Vec::with_capacity(files.len());
    for (file, (file_facts, new_entry)) in files.iter().zip(examined) {
        facts.push(file_facts);
        if let Some(entry) = new_entry {
            index.files.insert(file.relative.clone(), entry);
            n_new += 1;
        }
    }
    if let Some(path) = index_path.filter(|_| n_new > 0) {
        index.version = INDEX_VERSION;
        index.root = root.to_owned();
        let written =
            serde_json::to_vec(&index).map_err(Into::into).and_then(|bytes| write_aside(&path, &bytes));
        if let Err(error) = written {
            notes.push(unwritable_cache(path.parent().unwrap_or(&path), &error));
        }
    }
    facts
}

/// The index file for a source's folder.
fn index_path(cache_dir: &Path, root: &Path, upright: Upright) -> PathBuf {
    let absolute = fs::canonicalize(root).unwrap_or_else(|_| root.to_owned());
    let key = blake3::hash(format!("{upright:?} {}", absolute.display()).as_bytes());
    cache_dir.join("file-index").join(format!("{}.json", &key.to_hex()[..16]))
}

/// Reads the index, and returns when it was written. An unreadable index is treated as empty.
fn read_index(path: &Path) -> (IndexFile, Option<SystemTime>) {
    let read = || -> Option<(IndexFile, SystemTime)> {
        let written = metadata_at_most(path, MAX_INDEX_BYTES).ok()?.modified().ok()?;
        let index: IndexFile = serde_json::from_slice(&read_at_most(path, MAX_INDEX_BYTES).ok()?).ok()?;
        (index.version == INDEX_VERSION).then_some((index, written))
    };
    read().map_or_else(Default::default, |(index, time)| (index, Some(time)))
}

/// A file's facts, and a new entry for the index, if any.
fn examine_one(
    file: &ListedFile,
    upright: Upright,
    known: Option<&IndexEntry>,
    trusted_before: Option<SystemTime>,
) -> (FileFacts, Option<IndexEntry>) {
    let unusable = |reason: String| (FileFacts { hash: blake3::hash(b""), verdict: Err(reason) }, None);
    let unreadable = |error: std::io::Error| unusable(format!("cannot be read: {error}"));
    if let Some(fault) = &file.fault {
        return unusable(fault.clone());
    }
    let metadata = match image_file_metadata(&file.path) {
        Ok(metadata) => metadata,
        Err(error) => return unreadable(error),
    };
    if let (Some(entry), Some(before)) = (known, trusted_before)
        && settled_state(&metadata, before).is_ok_and(|state| state == Some(entry.state))
        && let Ok(hash) = blake3::Hash::from_hex(&entry.hash)
    {
        return (FileFacts { hash, verdict: entry.verdict.clone() }, None);
    }
    let bytes = match read_image_file(&file.path) {
        Ok(bytes) => bytes,
        Err(error) => return unreadable(error),
    };
    let verdict = decode_rgb(&bytes, upright)
        .map(|image| image.dimensions())
        .map_err(|error: DecodeError| error.to_string());
    let facts = FileFacts { hash: blake3::hash(&bytes), verdict };
    // As it was before it was read: a change meanwhile is found the next time.
    let entry = state_of(&metadata).ok().map(|state| IndexEntry {
        state,
        hash: facts.hash.to_hex().to_string(),
        verdict: facts.verdict.clone(),
    });
    (facts, entry)
}

/// A file that has been checked and is decoded when needed.
#[derive(Clone, Debug)]
pub struct ImageFile {
    pub file: ListedFile,
    /// Hash of its bytes when it was checked.
    pub hash: blake3::Hash,
}

impl ImageFile {
    /// The file's bytes; an error if they have changed since the source was opened.
    pub fn read(&self) -> Result<Vec<u8>, StimulusError> {
        let bytes = read_image_file(&self.file.path).map_err(|error| self.error(error.to_string()))?;
        if blake3::hash(&bytes) != self.hash {
            return Err(self.error("the file has changed since the source was opened".to_owned()));
        }
        Ok(bytes)
    }

    pub fn decode(&self, upright: Upright) -> Result<RgbImage, StimulusError> {
        decode_rgb(&self.read()?, upright).map_err(|error| self.error(error.to_string()))
    }

    pub fn error(&self, reason: String) -> StimulusError {
        StimulusError { what: self.file.path.display().to_string(), reason }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{jpeg_bytes, put};
    use crate::listing::list_files;
    use std::time::Duration;
    use touchstream_files::NoProgress;

    fn look(root: &Path, cache: &Path) -> Vec<FileFacts> {
        let files = list_files(root, "a").unwrap();
        let mut notes = Vec::new();
        let facts = examine(root, &files, Upright::Turn, Some(cache), &mut notes, &NoProgress);
        assert_eq!(notes, [""; 0]);
        facts
    }

    fn age(path: &Path) {
        let file = fs::File::options().write(true).open(path).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000)).unwrap();
    }

    fn only_index(cache: &Path) -> PathBuf {
        let mut found: Vec<_> = fs::read_dir(cache.join("file-index")).unwrap().collect();
        assert_eq!(found.len(), 1);
        found.remove(0).unwrap().path()
    }

    #[test]
    fn unchanged_old_files_are_not_decoded_again() {
        let (root, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        put(root.path(), "a/1.jpg", jpeg_bytes(30, 20, [9, 90, 200]));
        let path = root.path().join("a/1.jpg");
        age(&path);
        let first = look(root.path(), cache.path());
        assert_eq!(first[0].verdict, Ok((30, 20)));

        // The index answers once the file is older than it. What it says is not in the file.
        let index = only_index(cache.path());
        let later = SystemTime::now() + Duration::from_secs(60);
        let set_time = |path: &Path, time| {
            fs::File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
        };
        let text = fs::read_to_string(&index).unwrap();
        fs::write(&index, text.replace("[30,20]", "[31,20]")).unwrap();
        set_time(&index, later);
        assert_eq!(look(root.path(), cache.path())[0].verdict, Ok((31, 20)));

        // Others bytes of the same length, and the time is set back.
        let time = fs::metadata(&path).unwrap().modified().unwrap();
        fs::write(&path, vec![0; fs::metadata(&path).unwrap().len() as usize]).unwrap();
        set_time(&path, time);
        assert_eq!(look(root.path(), cache.path())[0].verdict, Err("not a JPEG, PNG or WebP image".into()));
    }

    #[test]
    fn files_as_recent_as_the_index_are_decoded_again() {
        let (root, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        put(root.path(), "a/1.jpg", jpeg_bytes(30, 20, [9, 90, 200]));
        let path = root.path().join("a/1.jpg");
        let time = fs::metadata(&path).unwrap().modified().unwrap();
        look(root.path(), cache.path());
        fs::write(&path, vec![0; fs::metadata(&path).unwrap().len() as usize]).unwrap();
        fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
        assert!(look(root.path(), cache.path())[0].verdict.is_err());
    }

    #[test]
    fn a_corrupt_index_is_rebuilt() {
        let (root, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        put(root.path(), "a/1.jpg", jpeg_bytes(30, 20, [9, 90, 200]));
        age(&root.path().join("a/1.jpg"));
        let first = look(root.path(), cache.path());
        let index = only_index(cache.path());
        let whole = fs::read(&index).unwrap();
        for corrupt in [&whole[..whole.len() / 2], b"", br#"{"version":99,"root":"","files":{}}"#] {
            fs::write(&index, corrupt).unwrap();
            assert_eq!(look(root.path(), cache.path()), first);
            assert_eq!(fs::read(&index).unwrap(), whole);
        }
    }

    #[test]
    fn a_file_that_changed_after_opening_is_not_shown() {
        let root = tempfile::tempdir().unwrap();
        put(root.path(), "a/1.jpg", jpeg_bytes(30, 20, [9, 90, 200]));
        let file = list_files(root.path(), "a").unwrap().remove(0);
        let image = ImageFile { hash: blake3::hash(&fs::read(&file.path).unwrap()), file };
        assert!(image.decode(Upright::Turn).is_ok());
        put(root.path(), "a/1.jpg", jpeg_bytes(30, 20, [9, 91, 200]));
        let error = image.decode(Upright::Turn).unwrap_err();
        assert!(error.what.ends_with("1.jpg") && error.reason.contains("has changed"), "{error}");
    }
}
