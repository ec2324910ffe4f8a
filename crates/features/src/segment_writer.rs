//! Appends to a segment under an exclusive lock.
//!
//! A writer holds the lock of its segment while it lives; the system releases it if the process dies. A second writer
//! finds the segment locked and uses another one, or creates one, so there are at most as many segments as there were
//! simultaneous writers (plus one per gigabyte). On file systems without locks, every writer creates a segment.
//!
//! A truncated record, caused by a full disk or a dead writer, is sealed by the writer that failed or by the next one.
//! Files are never truncated, because other processes may have mapped them. A new segment whose header could not be
//! written is removed.
//!
//! Writes are not flushed to the disk. A killed process loses nothing that it has written; a power failure may lose or
//! damage the last records, which checksums detect.

use crate::error::FeatureError;
use crate::mapped_file::MappedFile;
use crate::segment::{HEAD_BYTES, Seal, SegmentHead, scan};
use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use touchstream_files::{entries_of, refuse_special_file};

/// A segment of this size receives no further records.
const MAX_SEGMENT_BYTES: u64 = 1 << 30;

#[derive(Debug)]
pub(crate) struct SegmentWriter {
    file: File,
    path: PathBuf,
    end: u64,
}

impl SegmentWriter {
    /// Opens a segment of the folder, or creates one.
    pub fn open(folder: &Path, head: &SegmentHead) -> Result<Self, FeatureError> {
        let segments = list_segments(folder).map_err(|error| FeatureError::of_file(folder, error))?;
        for (_, path) in &segments {
            if let Some(writer) = Self::take(path, head)? {
                return Ok(writer);
            }
        }
        let mut number = segments.last().map_or(1, |(number, _)| number + 1);
        loop {
            let path = folder.join(segment_name(number));
            match File::options().read(true).write(true).create_new(true).open(&path) {
                Ok(file) => match file.try_lock() {
                    // Without locks, other writers do not use this file either: it is new, and they do not open
                    // existing ones.
                    Ok(()) | Err(TryLockError::Error(_)) => return Self::begin(file, path, head),
                    Err(TryLockError::WouldBlock) => {}
                },
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(FeatureError::of_file(&path, error)),
            }
            number += 1;
        }
    }

    /// An existing segment, if it can be locked and is not full.
    fn take(path: &Path, head: &SegmentHead) -> Result<Option<Self>, FeatureError> {
        if refuse_special_file(path).is_err() {
            return Ok(None);
        }
        let Ok(file) = File::options().read(true).write(true).open(path) else { return Ok(None) };
        if file.try_lock().is_err() {
            return Ok(None);
        }
        let failed = |error| FeatureError::of_file(path, error);
        let n_bytes = file.metadata().map_err(failed)?.len();
        if n_bytes < HEAD_BYTES as u64 {
            // Another process may have failed to write the header and removed the file.
            if !path.exists() {
                return Ok(None);
            }
            return Self::begin(file, path.to_owned(), head).map(Some);
        }
        if n_bytes >= MAX_SEGMENT_BYTES {
            return Ok(None);
        }
        let mapped = MappedFile::of(&file).map_err(failed)?;
        if !SegmentHead::from_bytes(mapped.bytes()).is_some_and(|found| found.is_of_same_store(head)) {
            return Ok(None);
        }
        let end = scan(mapped.bytes(), HEAD_BYTES).scanned_to as u64;
        let mut writer = Self { file, path: path.to_owned(), end };
        writer.seal_cut_record().map_err(failed)?;
        Ok(Some(writer))
    }

    /// Writes the header of a new segment. Readers wait until it is complete.
    fn begin(file: File, path: PathBuf, head: &SegmentHead) -> Result<Self, FeatureError> {
        let mut writer = Self { file, path, end: 0 };
        match writer.write_at_end(&head.to_bytes()) {
            Ok(()) => Ok(writer),
            Err(error) => {
                // Ignore errors: a truncated header is completed by the next writer.
                let _ = fs::remove_file(&writer.path);
                Err(FeatureError::of_file(&writer.path, error))
            }
        }
    }

    pub fn is_full(&self) -> bool {
        self.end >= MAX_SEGMENT_BYTES
    }

    /// Appends complete records.
    pub fn append(&mut self, records: &[u8]) -> Result<(), FeatureError> {
        self.write_at_end(records).map_err(|error| {
            // Ignore errors: the next writer would seal it.
            let _ = self.seal_cut_record();
            FeatureError::of_file(&self.path, error)
        })
    }

    fn write_at_end(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(self.end))?;
        self.file.write_all(bytes)?;
        self.end += bytes.len() as u64;
        Ok(())
    }

    /// Skips complete records after `self.end`, and seals a truncated one. This needs no disk space, because the header
    /// is overwritten in a block that the record already has.
    fn seal_cut_record(&mut self) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(self.end))?;
        let mut rest = Vec::new();
        self.file.read_to_end(&mut rest)?;
        let found = scan(&rest, 0);
        match found.seal(rest.len()) {
            Some(Seal { at, head, end }) => {
                self.file.seek(SeekFrom::Start(self.end + at as u64))?;
                self.file.write_all(&head)?;
                self.end += end as u64;
                self.file.set_len(self.end)
            }
            None => {
                self.end += found.scanned_to as u64;
                Ok(())
            }
        }
    }
}

/// The segments of a folder, sorted by number.
pub(crate) fn list_segments(folder: &Path) -> io::Result<Vec<(u32, PathBuf)>> {
    let mut segments = Vec::new();
    for entry in entries_of(folder)? {
        let path = entry?.path();
        if let Some(number) = path.file_name().and_then(|name| segment_number(name.to_str()?)) {
            segments.push((number, path));
        }
    }
    segments.sort_unstable();
    Ok(segments)
}

fn segment_name(number: u32) -> String {
    format!("segment-{number:05}.feat")
}

pub(crate) fn segment_number(name: &str) -> Option<u32> {
    let digits = name.strip_prefix("segment-")?.strip_suffix(".feat")?;
    (digits.len() >= 5 && digits.bytes().all(|byte| byte.is_ascii_digit())).then(|| digits.parse().ok())?
}
