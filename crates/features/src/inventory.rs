//! Lists, checks and deletes the contents of the feature cache.

use crate::bucket_locks::LOCKS_FOLDER;
use crate::calibration_file::is_calibration_name;
use crate::mapped_file::MappedFile;
use crate::record_key::RecordKey;
use crate::segment::{HEAD_BYTES, Part, RecordId, Scan, SegmentHead, scan};
use crate::segment_writer::{list_segments, segment_number};
use crate::store::{FEATURES_FOLDER, in_use_path};
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use touchstream_files::{entries_of, none_if_not_found, refuse_special_file};

/// The contents of a store, after checking all of it.
#[derive(Clone, Debug)]
pub struct StoreFacts {
    pub folder: PathBuf,
    /// Encoder and images; `None` if no segment has an intact header.
    pub head: Option<SegmentHead>,
    /// Number of intact scene vectors.
    pub n_scenes: usize,
    /// Number of intact spatial maps.
    pub n_maps: usize,
    /// Number of damaged or truncated records, which are never used. Excludes records that exist intact elsewhere
    /// because they were encoded again, and damaged headers if another segment's header is intact.
    pub n_damaged: usize,
    /// Size of all files.
    pub n_bytes: u64,
}

/// The contents of a store, as far as they are known without reading records.
#[derive(Clone, Debug)]
pub struct StoreSummary {
    pub folder: PathBuf,
    /// Encoder and images; `None` if no segment has an intact header.
    pub head: Option<SegmentHead>,
    /// Size of all files.
    pub n_bytes: u64,
}

/// The folders of all stores in a cache folder, sorted; none if there is no such folder.
pub fn store_folders(cache_dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut folders = Vec::new();
    for entry in entries_of(&cache_dir.join(FEATURES_FOLDER))? {
        let entry = entry?;
        // Links are excluded: their targets are not ours.
        if entry.file_type().is_ok_and(|kind| kind.is_dir())
            && entry.file_name().to_str().is_some_and(is_store_name)
        {
            folders.push(entry.path());
        }
    }
    folders.sort_unstable();
    Ok(folders)
}

fn is_store_name(name: &str) -> bool {
    let is_hash = |part: &str| part.len() == 16 && part.bytes().all(|byte| byte.is_ascii_hexdigit());
    name.split_once('-').is_some_and(|(encoder, data)| is_hash(encoder) && is_hash(data))
}

/// Reads a store's file sizes and the headers of its segments. Files that another process deletes meanwhile are
/// ignored.
pub fn summarize(folder: &Path) -> io::Result<StoreSummary> {
    let mut n_bytes = 0;
    for file in our_files(folder)?.ours {
        n_bytes += none_if_not_found(fs::symlink_metadata(&file))?.map_or(0, |facts| facts.len());
    }
    let heads = list_segments(folder)?.into_iter().filter_map(|(_, path)| {
        let file = MappedFile::open(&path).ok()?;
        SegmentHead::from_bytes(file.bytes())
    });
    Ok(StoreSummary { folder: folder.to_owned(), head: { heads }.next(), n_bytes })
}

/// Reads a complete store and verifies every checksum. Files that another process deletes meanwhile are ignored.
pub fn examine(folder: &Path) -> io::Result<StoreFacts> {
    let StoreSummary { head, n_bytes, .. } = summarize(folder)?;
    let mut intact = BTreeSet::new();
    let mut damaged = Vec::new();
    let (mut n_unreadable, mut n_damaged_heads) = (0, 0);
    for (_, path) in list_segments(folder)? {
        let file = match MappedFile::open(&path) {
            Ok(file) => file,
            Err(error) => {
                n_unreadable += usize::from(error.kind() != io::ErrorKind::NotFound);
                continue;
            }
        };
        let segment = file.bytes();
        n_damaged_heads += usize::from(SegmentHead::from_bytes(segment).is_none());
        let Scan { records, damaged: stretches, scanned_to } = scan(segment, HEAD_BYTES);
        damaged.extend(stretches.into_iter().map(|at| presumed_id(segment, at)));
        if scanned_to < segment.len() || segment.len() % 64 != 0 {
            damaged.push(presumed_id(segment, scanned_to));
        }
        let are_intact: Vec<bool> = records.par_iter().map(|record| record.is_intact(segment)).collect();
        for (record, is_intact) in records.into_iter().zip(are_intact) {
            if is_intact {
                intact.insert(record.id);
            } else {
                damaged.push(Some(record.id));
            }
        }
    }
    let exists_intact =
        |id: RecordId| intact.contains(&id) || intact.iter().any(|other| is_probably_same(id, *other));
    let has_intact_copy = |id: &Option<RecordId>| id.is_some_and(exists_intact);
    let n_damaged_heads = if head.is_some() { 0 } else { n_damaged_heads };
    let n_of = |part| intact.iter().filter(|id| id.part == part).count();
    Ok(StoreFacts {
        folder: folder.to_owned(),
        head,
        n_scenes: n_of(Part::Scene),
        n_maps: n_of(Part::Map),
        n_damaged: n_unreadable + n_damaged_heads + damaged.iter().filter(|id| !has_intact_copy(id)).count(),
        n_bytes,
    })
}

/// The id of a record with a damaged header, as far as its bytes are readable.
fn presumed_id(segment: &[u8], at: usize) -> Option<RecordId> {
    let head = segment.get(at..)?;
    let part = if *head.get(4)? == 1 { Part::Map } else { Part::Scene };
    Some(RecordId { key: RecordKey(*head.get(16..)?.first_chunk()?), part })
}

/// Whether a damaged record was a copy of an intact one. Keys are hashes: if half of the bytes of two keys agree, they
/// belong to the same screen, whichever bytes are damaged.
fn is_probably_same(damaged: RecordId, intact: RecordId) -> bool {
    let n_equal = damaged.key.0.iter().zip(intact.key.0).filter(|(a, b)| **a == *b).count();
    damaged.part == intact.part && n_equal >= 16
}

/// The result of deleting a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deleted {
    /// Deleted, except for files that this crate did not create.
    Gone {
        /// Size of the deleted files.
        n_bytes: u64,
        /// Files and folders that this crate did not create.
        foreign: Vec<PathBuf>,
    },
    /// Another process is using the store; nothing was deleted.
    InUse,
}

/// Deletes the files of a store that this crate created, unless the store is in use. Files that another process deletes
/// meanwhile count as deleted.
pub fn delete_store(folder: &Path) -> io::Result<Deleted> {
    refuse_special_file(&in_use_path(folder))?;
    let in_use = File::options().write(true).create(true).truncate(false).open(in_use_path(folder));
    let Some(in_use) = none_if_not_found(in_use)? else {
        return Ok(Deleted::Gone { n_bytes: 0, foreign: Vec::new() });
    };
    match in_use.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(Deleted::InUse),
        // Without locks, other users cannot be detected; a process that has mapped the files keeps them until it ends.
        Err(TryLockError::Error(_)) => {}
    }
    let OurFiles { ours, foreign } = our_files(folder)?;
    let mut n_bytes = 0;
    for file in ours {
        let n_file_bytes = none_if_not_found(fs::symlink_metadata(&file))?.map_or(0, |facts| facts.len());
        if none_if_not_found(fs::remove_file(&file))?.is_some() {
            n_bytes += n_file_bytes;
        }
    }
    for folder in [&folder.join(LOCKS_FOLDER), folder] {
        // Fails, and leaves the folder, if it contains other files.
        let _ = fs::remove_dir(folder);
    }
    // The lock file remains, because another process may be waiting for it.
    Ok(Deleted::Gone { n_bytes, foreign })
}

struct OurFiles {
    ours: Vec<PathBuf>,
    foreign: Vec<PathBuf>,
}

fn our_files(folder: &Path) -> io::Result<OurFiles> {
    let mut files = OurFiles { ours: Vec::new(), foreign: Vec::new() };
    let is_ours = |name: &str| {
        segment_number(name).is_some() || is_calibration_name(name) || name.starts_with(".aside-")
    };
    let is_lock = |name: &str| name.len() == 7 && name.ends_with(".lock");
    files.sort(folder, is_ours)?;
    let locks = folder.join(LOCKS_FOLDER);
    if locks.is_dir() {
        files.foreign.retain(|path| *path != locks);
        files.sort(&locks, is_lock)?;
    }
    Ok(files)
}

impl OurFiles {
    fn sort(&mut self, folder: &Path, is_ours: impl Fn(&str) -> bool) -> io::Result<()> {
        for entry in entries_of(folder)? {
            let entry = entry?;
            let Some(kind) = none_if_not_found(entry.file_type())? else { continue };
            let is_ours = kind.is_file() && entry.file_name().to_str().is_some_and(&is_ours);
            if is_ours { self.ours.push(entry.path()) } else { self.foreign.push(entry.path()) }
        }
        Ok(())
    }
}
