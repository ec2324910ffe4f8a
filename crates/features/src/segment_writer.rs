//! Appending to a segment that nobody else appends to meanwhile.
//!
//! A writer holds the exclusive lock of its segment as long as it lives; the system releases it if the process dies.
//! A second writer finds the segment locked and takes another one, or a new one, so there are at most as many
//! segments as there ever were writers at once (and one more for every gigabyte). Where the file system has no
//! locks, every writer takes a new segment of its own.
//!
//! A record that was cut off, because there was no room or because its writer died, is sealed: by the writer that
//! failed, else by the next one. Files are never shortened, because other processes may have them mapped. A new
//! segment whose head could not be written is removed.
//!
//! Nothing is flushed to the disk by force. A killed process loses nothing that it has written; a power failure may
//! lose or spoil the last records, which checksums find.

use crate::error::FeatureError;
use crate::mapped_file::MappedFile;
use crate::segment::{HEAD_BYTES, Seal, SegmentHead, scan};
use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use touchstream_files::entries_of;

/// A segment that has grown to this gets no more records.
const MAX_SEGMENT_BYTES: u64 = 1 << 30;

/// The end of a segment, to append to.
#[derive(Debug)]
pub(crate) struct SegmentWriter {
    file: File,
    path: PathBuf,
    end: u64,
}

impl SegmentWriter {
    /// Takes a segment of the folder, or begins one.
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
                    // Without locks nobody else appends here either: the file is new, and old ones are not taken.
                    Ok(()) | Err(TryLockError::Error(_)) => return Self::begin(file, path, head),
                    Err(TryLockError::WouldBlock) => {}
                },
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(FeatureError::of_file(&path, error)),
            }
            number += 1;
        }
    }

    /// An existing segment, if it can be locked and has room.
    fn take(path: &Path, head: &SegmentHead) -> Result<Option<Self>, FeatureError> {
        let Ok(file) = File::options().read(true).write(true).open(path) else { return Ok(None) };
        if file.try_lock().is_err() {
            return Ok(None);
        }
        let failed = |error| FeatureError::of_file(path, error);
        let n_bytes = file.metadata().map_err(failed)?.len();
        if n_bytes < HEAD_BYTES as u64 {
            // Whoever could not begin it may have removed it since.
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

    /// Writes the head of a segment that has none. Whoever reads it meanwhile waits until it is whole.
    fn begin(file: File, path: PathBuf, head: &SegmentHead) -> Result<Self, FeatureError> {
        let mut writer = Self { file, path, end: 0 };
        match writer.write_at_end(&head.to_bytes()) {
            Ok(()) => Ok(writer),
            Err(error) => {
                // Best effort: a head that is cut short is written again by the next writer.
                let _ = fs::remove_file(&writer.path);
                Err(FeatureError::of_file(&writer.path, error))
            }
        }
    }

    /// Whether records should go to another segment now.
    pub fn is_full(&self) -> bool {
        self.end >= MAX_SEGMENT_BYTES
    }

    /// Appends whole records.
    pub fn append(&mut self, records: &[u8]) -> Result<(), FeatureError> {
        self.write_at_end(records).map_err(|error| {
            // Best effort, too: the next writer does the same.
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

    /// Passes over whole records behind the end, and seals what is behind them. This needs no room on the disk: the
    /// head that is written over stands in a block of the disk's that the cut record has already.
    fn seal_cut_record(&mut self) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(self.end))?;
        let mut behind = Vec::new();
        self.file.read_to_end(&mut behind)?;
        let found = scan(&behind, 0);
        match found.seal(behind.len()) {
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

/// The segments of a folder, in the order of their numbers.
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

/// The number of a segment's file name.
pub(crate) fn segment_number(name: &str) -> Option<u32> {
    let digits = name.strip_prefix("segment-")?.strip_suffix(".feat")?;
    (digits.len() >= 5 && digits.bytes().all(|byte| byte.is_ascii_digit())).then(|| digits.parse().ok())?
}
