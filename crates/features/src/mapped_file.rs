//! Memory-mapped files; contains all `unsafe` calls of this crate.

use memmap2::Mmap;
use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::path::Path;

/// The bytes that a file had when it was opened; later growth is not visible.
#[derive(Debug, Default)]
pub(crate) struct MappedFile {
    /// `None` for an empty file, which cannot be mapped.
    map: Option<Mmap>,
}

impl MappedFile {
    /// Maps a file with its current length.
    pub fn open(path: &Path) -> io::Result<Self> {
        // Checked before opening, which would block on a named pipe.
        match fs::metadata(path)?.is_file() {
            true => Self::of(&File::open(path)?),
            false => Err(io::Error::other("it is not a file")),
        }
    }

    #[allow(unsafe_code)]
    pub fn of(file: &File) -> io::Result<Self> {
        if file.metadata()?.len() == 0 {
            return Ok(Self { map: None });
        }
        // SAFETY: the bytes must not change while they are borrowed. Segments are append-only: this crate writes only
        // after the last complete record, where nothing is borrowed, never overwrites complete records, never
        // truncates, and deletes segments by unlinking, which keeps mappings valid. No other program should write to
        // the cache folder. If one does before a record is checked, the checksum detects it; if one truncates a file in
        // use, the system stops this process (SIGBUS), as any program that maps files.
        let map = unsafe { Mmap::map(file)? };
        Ok(Self { map: Some(map) })
    }

    /// Releases the memory of a range of bytes; they are read from the file again if needed.
    #[cfg(unix)]
    #[allow(unsafe_code)]
    pub fn forget(&self, bytes: Range<usize>) {
        let Some(map) = &self.map else { return };
        // SAFETY: the mapping is read-only and backed by a file, so no written data can be lost: released pages are
        // read from the file again, with the same bytes. Errors do not matter.
        let _ = unsafe {
            map.unchecked_advise_range(memmap2::UncheckedAdvice::DontNeed, bytes.start, bytes.len())
        };
    }

    /// On other systems, memory is released when the system needs it.
    #[cfg(not(unix))]
    pub fn forget(&self, _bytes: Range<usize>) {}

    /// All bytes, aligned to a page.
    pub fn bytes(&self) -> &[u8] {
        self.map.as_deref().unwrap_or_default()
    }
}
