//! What the feature cache holds, and deleting it.

use crate::calibration_file::is_calibration_name;
use crate::claims::CLAIMS_FOLDER;
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
use touchstream_files::{entries_of, unless_gone};

/// What one store holds.
#[derive(Clone, Debug)]
pub struct StoreFacts {
    /// Its folder.
    pub folder: PathBuf,
    /// Whose features; `None` if no segment says.
    pub head: Option<SegmentHead>,
    /// Screens with an intact scene vector.
    pub n_scenes: usize,
    /// Screens with an intact spatial map.
    pub n_maps: usize,
    /// Records and stretches of bytes that are damaged or cut off; they are never used. A record that is there whole
    /// besides, since it was encoded again, does not count, nor does a segment's head where another one is whole.
    pub n_damaged: usize,
    /// Bytes of all its files.
    pub n_bytes: u64,
}

/// What can be said of a store without reading it.
#[derive(Clone, Debug)]
pub struct StoreSummary {
    /// Its folder.
    pub folder: PathBuf,
    /// Whose features; `None` if no segment says.
    pub head: Option<SegmentHead>,
    /// Bytes of all its files.
    pub n_bytes: u64,
}

/// The folders of all stores in a cache folder, in order; none if there is no such folder.
pub fn store_folders(cache_dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut folders = Vec::new();
    for entry in entries_of(&cache_dir.join(FEATURES_FOLDER))? {
        let entry = entry?;
        // Not of links: what they lead to is not ours.
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

/// Looks at a store's file sizes and the heads of its segments. What another process deletes meanwhile counts nothing.
pub fn summarize(folder: &Path) -> io::Result<StoreSummary> {
    let mut n_bytes = 0;
    for file in our_files(folder)?.ours {
        n_bytes += unless_gone(fs::symlink_metadata(&file))?.map_or(0, |facts| facts.len());
    }
    let heads = list_segments(folder)?.into_iter().filter_map(|(_, path)| {
        let file = MappedFile::open(&path).ok()?;
        SegmentHead::from_bytes(file.bytes())
    });
    Ok(StoreSummary { folder: folder.to_owned(), head: { heads }.next(), n_bytes })
}

/// Reads a whole store, every checksum included. What another process deletes meanwhile counts nothing.
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
    let is_whole =
        |id: RecordId| intact.contains(&id) || intact.iter().any(|whole| is_presumably(id, *whole));
    let is_there_whole = |id: &Option<RecordId>| id.is_some_and(is_whole);
    let n_damaged_heads = if head.is_some() { 0 } else { n_damaged_heads };
    let n_of = |part| intact.iter().filter(|id| id.part == part).count();
    Ok(StoreFacts {
        folder: folder.to_owned(),
        head,
        n_scenes: n_of(Part::Scene),
        n_maps: n_of(Part::Map),
        n_damaged: n_unreadable + n_damaged_heads + damaged.iter().filter(|id| !is_there_whole(id)).count(),
        n_bytes,
    })
}

/// What a record with a damaged head was of, as far as its bytes tell.
fn presumed_id(segment: &[u8], at: usize) -> Option<RecordId> {
    let head = segment.get(at..)?;
    let part = if *head.get(4)? == 1 { Part::Map } else { Part::Scene };
    Some(RecordId { key: RecordKey(*head.get(16..)?.first_chunk()?), part })
}

/// Whether a damaged record and a whole one were of the same. Keys are hashes: two that agree in half of their bytes
/// are of one screen, whichever bytes are damaged.
fn is_presumably(damaged: RecordId, whole: RecordId) -> bool {
    let n_equal = damaged.key.0.iter().zip(whole.key.0).filter(|(a, b)| **a == *b).count();
    damaged.part == whole.part && n_equal >= 16
}

/// What became of a store that was to be deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deleted {
    /// It is gone, but for files that are not ours.
    Gone {
        /// Bytes of the files that were deleted.
        n_bytes: u64,
        /// Files and folders that this crate did not make; they were left.
        foreign: Vec<PathBuf>,
    },
    /// Another process uses it; nothing was deleted.
    InUse,
}

/// Deletes the files of a store that this crate made, unless it is in use. What another process deletes meanwhile is
/// gone too.
pub fn delete_store(folder: &Path) -> io::Result<Deleted> {
    let in_use = File::options().write(true).create(true).truncate(false).open(in_use_path(folder));
    let Some(in_use) = unless_gone(in_use)? else {
        return Ok(Deleted::Gone { n_bytes: 0, foreign: Vec::new() });
    };
    match in_use.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(Deleted::InUse),
        // Without locks nobody can tell; a process that uses the files keeps them until it ends.
        Err(TryLockError::Error(_)) => {}
    }
    let OurFiles { ours, foreign } = our_files(folder)?;
    let mut n_bytes = 0;
    for file in ours {
        let n_file_bytes = unless_gone(fs::symlink_metadata(&file))?.map_or(0, |facts| facts.len());
        if unless_gone(fs::remove_file(&file))?.is_some() {
            n_bytes += n_file_bytes;
        }
    }
    for folder in [&folder.join(CLAIMS_FOLDER), folder] {
        // Not empty, and so left, where something else is in it.
        let _ = fs::remove_dir(folder);
    }
    // The lock file stays: somebody may be waiting for it.
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
    let is_claim = |name: &str| name.len() == 7 && name.ends_with(".lock");
    files.sort(folder, is_ours)?;
    let claims = folder.join(CLAIMS_FOLDER);
    if claims.is_dir() {
        files.foreign.retain(|path| *path != claims);
        files.sort(&claims, is_claim)?;
    }
    Ok(files)
}

impl OurFiles {
    fn sort(&mut self, folder: &Path, is_ours: impl Fn(&str) -> bool) -> io::Result<()> {
        for entry in entries_of(folder)? {
            let entry = entry?;
            let Some(kind) = unless_gone(entry.file_type())? else { continue };
            let is_ours = kind.is_file() && entry.file_name().to_str().is_some_and(&is_ours);
            if is_ours { self.ours.push(entry.path()) } else { self.foreign.push(entry.path()) }
        }
        Ok(())
    }
}
