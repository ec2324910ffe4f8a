//! The features of one encoder on one source of images, on disk and shared by processes.
//!
//! A store is a folder `CACHE/features/ENCODER-DATA`, named by the first 16 hex digits of both hashes:
//!
//! - `segment-*.feat`: append-only files of records ([`segment`](crate::segment)). Every record carries its key and
//!   checksums. Heads are checked when a segment is read, payloads when a record is first wanted; what is torn or
//!   damaged is passed over and encoded again. A segment has one writer at a time, by its lock.
//! - `claims/*.lock`: who encodes what, so that processes that want the same screens share the work and encode each
//!   once.
//! - `calibration-*.mean`: means that were computed once.
//!
//! Beside the folder, `ENCODER-DATA.lock` is held, shared, by everyone who uses it; whoever wants to delete the
//! folder must hold it alone.
//!
//! All locks are advisory locks of the operating system, released when a process ends however it ends. On a network
//! file system without locks, screens may be encoded and stored twice; nothing is corrupted, since writers then never
//! share a file and every record is checked before use.
//!
//! A cache that cannot be written still serves what it holds; the rest is kept in memory, and a note says so.

use crate::claims::Claims;
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
use touchstream_files::{AsideFile, unwritable_cache};

/// Where all stores are, within the cache folder.
pub const FEATURES_FOLDER: &str = "features";

/// The features of one encoder on one source of images.
#[derive(Debug)]
pub(crate) struct FeatureStore {
    head: SegmentHead,
    /// `None` without a cache.
    folder: Option<PathBuf>,
    claims: Option<Claims>,
    writer: Option<SegmentWriter>,
    /// Why nothing can be written, if nothing can.
    write_failure: Option<WriteFailure>,
    segments: Vec<OpenSegment>,
    index: HashMap<RecordId, Vec<Place>>,
    in_memory: HashMap<RecordId, Stored>,
    /// Held as long as the store is used.
    _in_use: Option<File>,
}

/// A folder that cannot be made or written.
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

/// Where a record is.
#[derive(Debug)]
struct Place {
    segment_idx: usize,
    record: Record,
    /// `None` as long as nobody has looked.
    is_intact: Option<bool>,
}

impl FeatureStore {
    /// Opens the store, which may be new, and finds what is in it.
    pub fn open(cache_dir: Option<&Path>, head: SegmentHead) -> Result<Self, FeatureError> {
        let mut store = Self {
            head,
            folder: None,
            claims: None,
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
                Ok(claims) => store.claims = Some(claims),
                Err(error) => {
                    store.write_failure = Some(WriteFailure { folder: folder.clone(), error });
                }
            }
            store.folder = Some(folder).filter(|folder| folder.is_dir());
        }
        store.refresh()?;
        Ok(store)
    }

    /// Whose features these are.
    pub fn head(&self) -> &SegmentHead {
        &self.head
    }

    /// The folder, if there is one and it can be written.
    pub fn writable_folder(&self) -> Option<&Path> {
        self.folder.as_deref().filter(|_| self.claims.is_some())
    }

    /// The folder, if there is one.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// The claims, where others can write too.
    pub fn claims(&self) -> Option<&Claims> {
        self.claims.as_ref()
    }

    /// Why nothing can be written, if nothing can.
    pub fn write_failure(&self) -> Option<&WriteFailure> {
        self.write_failure.as_ref()
    }

    /// The same as a note for people.
    pub fn note(&self) -> Option<String> {
        self.write_failure.as_ref().map(|WriteFailure { folder, error }| unwritable_cache(folder, error))
    }

    /// Finds what was appended since, by this process and by others.
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
            // A segment that cannot be read is as good as none: its records are made again.
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
                let place = Place { segment_idx, record, is_intact: None };
                self.index.entry(place.record.id).or_default().push(place);
            }
        }
        Ok(())
    }

    /// Checks the payloads of these records, each once in a store's life, on all threads.
    pub fn check(&mut self, ids: impl IntoIterator<Item = RecordId>) {
        let mut unchecked = Vec::new();
        for id in ids {
            for (place_idx, place) in self.index.get(&id).into_iter().flatten().enumerate() {
                if place.is_intact.is_none() {
                    unchecked.push((id, place_idx));
                }
            }
        }
        let look = |&(id, place_idx): &(RecordId, usize)| {
            let Place { segment_idx, record, .. } = &self.index[&id][place_idx];
            let has_length = record.payload.len() == payload_bytes(self.head.shape, id.part);
            let file = &self.segments[*segment_idx].file;
            let is_intact = has_length && record.is_intact(file.bytes());
            // Many gigabytes may be checked; they need not stay in memory for it.
            file.forget(record.payload.clone());
            is_intact
        };
        let answers: Vec<bool> = unchecked.par_iter().map(look).collect();
        for ((id, place_idx), is_intact) in unchecked.into_iter().zip(answers) {
            if let Some(place) = self.index.get_mut(&id).and_then(|places| places.get_mut(place_idx)) {
                place.is_intact = Some(is_intact);
            }
        }
    }

    /// A record that was checked and found intact.
    pub fn get(&self, id: RecordId) -> Option<Stored> {
        let is_intact = |place: &&Place| place.is_intact == Some(true);
        let intact = self.index.get(&id).and_then(|places| places.iter().find(is_intact));
        let mapped = intact.map(|Place { segment_idx, record, .. }| Stored::Mapped {
            file: Arc::clone(&self.segments[*segment_idx].file),
            payload: record.payload.clone(),
        });
        mapped.or_else(|| self.in_memory.get(&id).cloned())
    }

    /// Whether [`FeatureStore::get`] has an answer.
    pub fn has(&self, id: RecordId) -> bool {
        let is_intact = |place: &Place| place.is_intact == Some(true);
        self.index.get(&id).is_some_and(|places| places.iter().any(is_intact))
            || self.in_memory.contains_key(&id)
    }

    /// Adds records, all in one write; answers how many bytes the cache grew by. They are found after the next
    /// [`FeatureStore::refresh`].
    pub fn append(&mut self, records: &[(RecordId, Vec<u8>)]) -> Result<u64, FeatureError> {
        let Some(folder) = self.folder.as_deref().filter(|_| self.claims.is_some()) else {
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

    /// A record that was stored a moment ago is not there: somebody else changes the files.
    pub fn lost(&self) -> FeatureError {
        let folder = self.folder().unwrap_or(Path::new("memory"));
        FeatureError::of_file(folder, io::Error::other("features that were just stored are damaged"))
    }

    /// Lets others append to the segment that this store appended to.
    pub fn stop_writing(&mut self) {
        self.writer = None;
    }
}

/// Bytes of a record's payload.
pub(crate) fn payload_bytes(shape: FeatureShape, part: Part) -> usize {
    match part {
        Part::Scene => shape.scene_len * 4,
        Part::Map => shape.map_len() * 2,
    }
}

/// The name of a store's folder.
pub(crate) fn store_name(encoder_hash: ContentHash, data_hash: ContentHash) -> String {
    format!("{:.16}-{:.16}", encoder_hash.to_string(), data_hash.to_string())
}

/// The file beside a store's folder that everyone who uses it holds.
pub(crate) fn in_use_path(folder: &Path) -> PathBuf {
    folder.with_extension("lock")
}

/// Says that a store is in use, for as long as the file is open. Waits while it is being deleted.
fn hold(path: &Path) -> Option<File> {
    if let Some(folder) = path.parent() {
        // Where it cannot be made, what follows says so.
        let _ = fs::create_dir_all(folder);
    }
    let opened = File::options().write(true).create(true).truncate(false).open(path);
    let file = opened.or_else(|_| File::open(path)).ok()?;
    file.lock_shared().ok().map(|()| file)
}

/// Makes a store's folder and tries to write in it.
fn prepare(folder: &Path) -> io::Result<Claims> {
    fs::create_dir_all(folder)?;
    let claims = Claims::open(folder)?;
    match AsideFile::create(&folder.join("probe")) {
        // A full disk is told when something is to be written.
        Err(error) if error.kind() != io::ErrorKind::StorageFull => Err(error),
        _ => Ok(claims),
    }
}
