//! The features of one encoder on one image source, on disk, shared by processes.
//!
//! A store is a folder `CACHE/features/ENCODER-DATA`, named by the first 16 hex digits of both hashes:
//!
//! - `segment-*.feat`: append-only files of records ([`segment`](crate::segment)). Every record has a key and
//!   checksums. Headers are verified when a segment is opened, payloads when a record is first needed; truncated or
//!   damaged records are skipped and encoded again. The lock of a segment admits one writer at a time.
//! - `claims/*.lock`: locks by which processes that need the same screens divide the work.
//! - `calibration-*.mean`: cached means.
//!
//! Next to the folder, all users of a store hold a shared lock on `ENCODER-DATA.lock`; deleting the folder requires an
//! exclusive lock.
//!
//! All locks are advisory locks of the operating system, which releases them when a process ends for any reason. On a
//! network file system without locks, screens may be encoded and stored twice, but nothing is corrupted: writers then
//! never share a file, and every record is verified before use.
//!
//! If a cache is not writable, its contents are still used; new features are kept in memory, with a note for the user.

use crate::bucket_locks::BucketLocks;
use crate::error::FeatureError;
use crate::mapped_file::MappedFile;
use crate::segment::{HEAD_BYTES, Part, Record, RecordId, SegmentHead, put_record, scan};
use crate::segment_writer::{SegmentWriter, list_segments};
use crate::stored::Stored;
use rayon::prelude::*;
use std::collections::HashMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use touchstream_encoder::FeatureShape;
use touchstream_env::stimuli::ContentHash;
use touchstream_files::{AsideFile, refuse_special_file, unwritable_cache};

/// The folder of all stores, within the cache folder.
pub const FEATURES_FOLDER: &str = "features";

/// The features of one encoder on one image source.
#[derive(Debug)]
pub(crate) struct FeatureStore {
    head: SegmentHead,
    /// `None` without a cache.
    folder: Option<PathBuf>,
    bucket_locks: Option<BucketLocks>,
    writer: Option<SegmentWriter>,
    /// Why the store is not writable, if it is not.
    write_failure: Option<WriteFailure>,
    segments: Vec<OpenSegment>,
    index: HashMap<RecordId, Vec<RecordLocation>>,
    in_memory: HashMap<RecordId, Stored>,
    /// Held while the store is in use.
    _in_use: Option<File>,
}

/// A folder that cannot be created or written to.
#[derive(Debug)]
pub(crate) struct WriteFailure {
    pub folder: PathBuf,
    pub error: io::Error,
}

#[derive(Debug)]
struct OpenSegment {
    path: PathBuf,
    file: Arc<MappedFile>,
    scanned_to: usize,
}

/// The location of a record.
#[derive(Debug)]
struct RecordLocation {
    segment_idx: usize,
    record: Record,
    /// `None` until it has been checked.
    is_intact: Option<bool>,
}

impl FeatureStore {
    /// Opens or creates a store, and lists its records.
    pub fn open(cache_dir: Option<&Path>, head: SegmentHead) -> Result<Self, FeatureError> {
        let mut store = Self {
            head,
            folder: None,
            bucket_locks: None,
            writer: None,
            write_failure: None,
            segments: Vec::new(),
            index: HashMap::new(),
            in_memory: HashMap::new(),
            _in_use: None,
        };
        if let Some(cache_dir) = cache_dir {
            let name = store_name(store.head.encoder_hash, store.head.data_hash);
            let folder = cache_dir.join(FEATURES_FOLDER).join(&name);
            store._in_use = hold(&in_use_path(&folder));
            match prepare(&folder) {
                Ok(locks) => store.bucket_locks = Some(locks),
                Err(error) => {
                    store.write_failure = Some(WriteFailure { folder: folder.clone(), error });
                }
            }
            store.folder = Some(folder).filter(|folder| folder.is_dir());
        }
        store.refresh()?;
        Ok(store)
    }

    pub fn head(&self) -> &SegmentHead {
        &self.head
    }

    /// The folder, if there is one and it is writable.
    pub fn writable_folder(&self) -> Option<&Path> {
        self.folder.as_deref().filter(|_| self.bucket_locks.is_some())
    }

    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// The bucket locks, if the folder is writable.
    pub fn bucket_locks(&self) -> Option<&BucketLocks> {
        self.bucket_locks.as_ref()
    }

    pub fn write_failure(&self) -> Option<&WriteFailure> {
        self.write_failure.as_ref()
    }

    /// [`FeatureStore::write_failure`] as a note for the user.
    pub fn note(&self) -> Option<String> {
        self.write_failure.as_ref().map(|WriteFailure { folder, error }| unwritable_cache(folder, error))
    }

    /// Lists records that this process or others have appended since.
    pub fn refresh(&mut self) -> Result<(), FeatureError> {
        let Some(folder) = &self.folder else { return Ok(()) };
        let listed = list_segments(folder).map_err(|error| FeatureError::of_file(folder, error))?;
        for (_, path) in listed {
            let known = self.segments.iter().position(|segment| segment.path == path);
            let n_known_bytes = known.map_or(0, |idx| self.segments[idx].file.bytes().len() as u64);
            let n_bytes = fs::metadata(&path).map_or(0, |facts| facts.len());
            if n_bytes < HEAD_BYTES as u64 || n_bytes <= n_known_bytes {
                continue;
            }
            // An unreadable segment is ignored: its records are encoded again.
            let Ok(file) = MappedFile::open(&path) else { continue };
            let segment_idx = known.unwrap_or_else(|| {
                self.segments.push(OpenSegment { path, file: Arc::default(), scanned_to: HEAD_BYTES });
                self.segments.len() - 1
            });
            let segment = &mut self.segments[segment_idx];
            segment.file = Arc::new(file);
            let found = scan(segment.file.bytes(), segment.scanned_to);
            segment.scanned_to = found.scanned_to;
            for record in found.records {
                let place = RecordLocation { segment_idx, record, is_intact: None };
                self.index.entry(place.record.id).or_default().push(place);
            }
        }
        Ok(())
    }

    /// Verifies the payloads of these records, each once, in parallel.
    pub fn check(&mut self, ids: impl IntoIterator<Item = RecordId>) {
        let mut unchecked = Vec::new();
        for id in ids {
            for (place_idx, place) in self.index.get(&id).into_iter().flatten().enumerate() {
                if place.is_intact.is_none() {
                    unchecked.push((id, place_idx));
                }
            }
        }
        let verify = |&(id, place_idx): &(RecordId, usize)| {
            let RecordLocation { segment_idx, record, .. } = &self.index[&id][place_idx];
            let has_length = record.payload.len() == payload_bytes(self.head.shape, id.part);
            let file = &self.segments[*segment_idx].file;
            let is_intact = has_length && record.is_intact(file.bytes());
            // Possibly many gigabytes, which need not stay in memory.
            file.forget(record.payload.clone());
            is_intact
        };
        let results: Vec<bool> = unchecked.par_iter().map(verify).collect();
        for ((id, place_idx), is_intact) in unchecked.into_iter().zip(results) {
            if let Some(place) = self.index.get_mut(&id).and_then(|places| places.get_mut(place_idx)) {
                place.is_intact = Some(is_intact);
            }
        }
    }

    /// A record that has been verified.
    pub fn get(&self, id: RecordId) -> Option<Stored> {
        let is_intact = |place: &&RecordLocation| place.is_intact == Some(true);
        let intact = self.index.get(&id).and_then(|places| places.iter().find(is_intact));
        let mapped = intact.map(|RecordLocation { segment_idx, record, .. }| Stored::Mapped {
            file: Arc::clone(&self.segments[*segment_idx].file),
            payload: record.payload.clone(),
        });
        mapped.or_else(|| self.in_memory.get(&id).cloned())
    }

    /// Whether [`FeatureStore::get`] would return a record.
    pub fn has(&self, id: RecordId) -> bool {
        let is_intact = |place: &RecordLocation| place.is_intact == Some(true);
        self.index.get(&id).is_some_and(|places| places.iter().any(is_intact))
            || self.in_memory.contains_key(&id)
    }

    /// Adds records in one write; returns the growth of the cache in bytes. They are found after the next
    /// [`FeatureStore::refresh`].
    pub fn append(&mut self, records: &[(RecordId, Vec<u8>)]) -> Result<u64, FeatureError> {
        let Some(folder) = self.folder.as_deref().filter(|_| self.bucket_locks.is_some()) else {
            let kept = records.iter().map(|(id, payload)| (*id, Stored::in_memory(payload)));
            self.in_memory.extend(kept);
            return Ok(0);
        };
        if self.writer.as_ref().is_none_or(SegmentWriter::is_full) {
            self.writer = Some(SegmentWriter::open(folder, &self.head)?);
        }
        let mut bytes = Vec::new();
        records.iter().for_each(|(id, payload)| put_record(*id, payload, &mut bytes));
        if let Some(writer) = &mut self.writer {
            writer.append(&bytes)?;
        }
        Ok(bytes.len() as u64)
    }

    /// The error for a record that was stored but is missing: another program is changing the files.
    pub fn lost(&self) -> FeatureError {
        let folder = self.folder().unwrap_or(Path::new("memory"));
        FeatureError::of_file(folder, io::Error::other("features that were just stored are damaged"))
    }

    /// Releases the lock on the current segment.
    pub fn stop_writing(&mut self) {
        self.writer = None;
    }
}

/// Size of a record's payload.
pub(crate) fn payload_bytes(shape: FeatureShape, part: Part) -> usize {
    match part {
        Part::Scene => shape.scene_len * 4,
        Part::Map => shape.map_len() * 2,
    }
}

pub(crate) fn store_name(encoder_hash: ContentHash, data_hash: ContentHash) -> String {
    format!("{:.16}-{:.16}", encoder_hash.to_string(), data_hash.to_string())
}

/// The lock file next to a store's folder.
pub(crate) fn in_use_path(folder: &Path) -> PathBuf {
    folder.with_extension("lock")
}

/// Takes a shared lock on a store, held while the file is open. Waits while the store is being deleted.
fn hold(path: &Path) -> Option<File> {
    if let Some(folder) = path.parent() {
        // An error shows up when the file is opened.
        let _ = fs::create_dir_all(folder);
    }
    refuse_special_file(path).ok()?;
    let opened = File::options().write(true).create(true).truncate(false).open(path);
    let file = opened.or_else(|_| File::open(path)).ok()?;
    file.lock_shared().ok().map(|()| file)
}

/// Creates a store's folder and checks that it is writable.
fn prepare(folder: &Path) -> io::Result<BucketLocks> {
    fs::create_dir_all(folder)?;
    let locks = BucketLocks::open(folder)?;
    match AsideFile::create(&folder.join("probe")) {
        // A full disk is reported later, when something has to be written.
        Err(error) if error.kind() != io::ErrorKind::StorageFull => Err(error),
        _ => Ok(locks),
    }
}
