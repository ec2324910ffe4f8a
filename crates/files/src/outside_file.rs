//! Reads external files: only regular files up to a size limit, so that neither a pipe nor an endless device can block.

use crate::none_if_not_found;
use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::path::Path;

const MAX_PICTURE_BYTES: u64 = 256 << 20;
const MAX_ANNOTATION_BYTES: u64 = 4 << 30;
const NOT_A_FILE: &str = "it is neither a file nor a link to one";

pub fn read_image_file(path: &Path) -> io::Result<Vec<u8>> {
    read_at_most(path, MAX_PICTURE_BYTES)
}

pub fn read_annotation_file(path: &Path) -> io::Result<Vec<u8>> {
    read_at_most(path, MAX_ANNOTATION_BYTES)
}

/// Metadata of an image file, or an error if it must not be opened.
pub fn image_file_metadata(path: &Path) -> io::Result<Metadata> {
    metadata_at_most(path, MAX_PICTURE_BYTES)
}

/// Metadata of a regular file of at most `max_bytes` bytes, without opening it. Follows links.
pub fn metadata_at_most(path: &Path, max_bytes: u64) -> io::Result<Metadata> {
    let metadata = fs::metadata(path)?;
    if !metadata.is_file() {
        return Err(io::Error::other(NOT_A_FILE));
    }
    match metadata.len() > max_bytes {
        true => Err(too_large(max_bytes)),
        false => Ok(metadata),
    }
}

/// An error if the path is a pipe, a device or a folder: opening a pipe would block until another process opens it, too.
/// A missing file is none of these.
pub fn refuse_special_file(path: &Path) -> io::Result<()> {
    match none_if_not_found(fs::metadata(path))? {
        Some(facts) if !facts.is_file() => Err(io::Error::other(NOT_A_FILE)),
        _ => Ok(()),
    }
}

/// The contents of a regular file of at most `max_bytes` bytes.
pub fn read_at_most(path: &Path, max_bytes: u64) -> io::Result<Vec<u8>> {
    // Checked before opening, which would block on a named pipe.
    let metadata = metadata_at_most(path, max_bytes)?;
    let mut bytes = Vec::new();
    // A file that does not fit into memory is an error, not the end of the process.
    bytes
        .try_reserve_exact(metadata.len() as usize)
        .map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
    // The file may grow, and some system files report a length of 0.
    File::open(path)?.take(max_bytes + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > max_bytes {
        true => Err(too_large(max_bytes)),
        false => Ok(bytes),
    }
}

fn too_large(max_bytes: u64) -> io::Error {
    io::Error::other(format!("it is larger than {} MB", max_bytes >> 20))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_up_to_the_limit_is_read_and_a_larger_one_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        fs::write(&path, b"12345").unwrap();
        assert_eq!(read_at_most(&path, 5).unwrap(), b"12345");
        assert_eq!(read_at_most(&path, 4).unwrap_err().to_string(), "it is larger than 0 MB");
        File::options().write(true).open(&path).unwrap().set_len(MAX_PICTURE_BYTES + 1).unwrap();
        assert_eq!(read_image_file(&path).unwrap_err().to_string(), "it is larger than 256 MB");
        let error = read_image_file(folder.path()).unwrap_err();
        assert_eq!(error.to_string(), "it is neither a file nor a link to one");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn files_whose_length_is_not_known_before_are_read_up_to_the_limit() {
        let path = Path::new("/proc/self/status");
        assert_eq!(fs::metadata(path).unwrap().len(), 0);
        assert!(!read_at_most(path, 1 << 20).unwrap().is_empty());
        assert!(read_at_most(path, 10).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn links_to_files_are_followed_and_endless_devices_are_refused() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let [file, link, endless] = ["file", "link", "endless"].map(|name| folder.path().join(name));
        fs::write(&file, b"1").unwrap();
        symlink(&file, &link).unwrap();
        symlink("/dev/zero", &endless).unwrap();
        assert_eq!(read_image_file(&link).unwrap(), b"1");
        assert!(read_image_file(&endless).is_err() && read_annotation_file(&endless).is_err());
    }
}
