//! A file of ours as memory: the one place with `unsafe` calls.

use memmap2::Mmap;
use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::path::Path;

/// The bytes that a file had when it was opened. It may grow meanwhile; that is not seen.
#[derive(Debug, Default)]
pub(crate) struct MappedFile {
    /// `None` for an empty file, which cannot be mapped.
    map: Option<Mmap>,
}

impl MappedFile {
    /// Maps a file as it is now.
    pub fn open(path: &Path) -> io::Result<Self> {
        // Before opening, which for a pipe waits for someone to write.
        match fs::metadata(path)?.is_file() {
            true => Self::of(&File::open(path)?),
            false => Err(io::Error::other("it is not a file")),
        }
    }

    /// Maps an open file as it is now.
    #[allow(unsafe_code)]
    pub fn of(file: &File) -> io::Result<Self> {
        if file.metadata()?.len() == 0 {
            return Ok(Self { map: None });
        }
        // SAFETY: the bytes must not change while they are borrowed. Segments are append-only: this crate writes
        // behind their last whole record alone, where nobody borrows anything, never over records that are there,
        // never shortens them, and deletes them by unlinking, which leaves mappings whole. Nobody else has any
        // business in the cache folder. Somebody who writes there all the same is found by the checksums if it
        // happens before a record is checked; somebody who cuts a file short while it is in use makes the system
        // stop this process (SIGBUS), as with every program that maps files.
        let map = unsafe { Mmap::map(file)? };
        Ok(Self { map: Some(map) })
    }

    /// Gives the memory of some bytes back to the system; whoever reads them again has them from the file's cache.
    #[cfg(unix)]
    #[allow(unsafe_code)]
    pub fn forget(&self, bytes: Range<usize>) {
        let Some(map) = &self.map else { return };
        // SAFETY: the mapping is of a file and only ever read, so nothing that was written can be lost: pages that are
        // dropped come back from the file with the same bytes. Failing is no harm either.
        let _ = unsafe {
            map.unchecked_advise_range(memmap2::UncheckedAdvice::DontNeed, bytes.start, bytes.len())
        };
    }

    /// Elsewhere memory is given back when the system wants it.
    #[cfg(not(unix))]
    pub fn forget(&self, _bytes: Range<usize>) {}

    /// All bytes, starting at a page.
    pub fn bytes(&self) -> &[u8] {
        self.map.as_deref().unwrap_or_default()
    }
}
