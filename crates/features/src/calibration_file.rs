//! Stores a calibration in a small file, written atomically and protected by a checksum.

use crate::calibration::Calibration;
use crate::segment::checksum;
use std::io;
use std::path::{Path, PathBuf};
use touchstream_env::stimuli::ContentHash;
use touchstream_files::{read_at_most, write_aside};

const MAGIC: &[u8; 16] = b"touchstream-mean";
const HEAD_BYTES: usize = 16 + 32 + 4 + 4;
const MAX_BYTES: u64 = 64 << 20;

pub(crate) fn calibration_path(folder: &Path, hash: ContentHash) -> PathBuf {
    folder.join(format!("calibration-{:.16}.mean", hash.to_string()))
}

pub(crate) fn is_calibration_name(name: &str) -> bool {
    let digits = name.strip_prefix("calibration-").and_then(|rest| rest.strip_suffix(".mean"));
    digits.is_some_and(|digits| digits.len() == 16 && digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

impl Calibration {
    /// The calibration with a hash, if its file exists and is intact.
    pub(crate) fn read(folder: &Path, hash: ContentHash, scene_len: usize) -> Option<Self> {
        let bytes = read_at_most(&calibration_path(folder, hash), MAX_BYTES).ok()?;
        Self::from_bytes(&bytes).filter(|found| found.content_hash == hash && found.mean.len() == scene_len)
    }

    pub(crate) fn write(&self, folder: &Path) -> io::Result<()> {
        write_aside(&calibration_path(folder, self.content_hash), &self.to_bytes())
    }

    /// The file's bytes: magic, hash, norm (f32), number of screens (u32), mean (f32 each), checksum of all these.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(self.content_hash.0);
        bytes.extend(self.norm.to_le_bytes());
        bytes.extend((self.n_screens as u32).to_le_bytes());
        bytes.extend(bytemuck::cast_slice::<f32, u8>(&self.mean));
        bytes.extend(checksum(&bytes).to_le_bytes());
        bytes
    }

    /// Parses a file's bytes; `None` if they are truncated or corrupt.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (bytes, stored_checksum) = bytes.split_last_chunk()?;
        if !bytes.starts_with(MAGIC) || checksum(bytes) != u64::from_le_bytes(*stored_checksum) {
            return None;
        }
        let (head, mean) = bytes.split_at_checked(HEAD_BYTES)?;
        let (mean, []) = mean.as_chunks() else { return None };
        Some(Self {
            content_hash: ContentHash(*head[16..].first_chunk()?),
            norm: f32::from_le_bytes(*head[48..].first_chunk()?),
            n_screens: u32::from_le_bytes(*head[52..].first_chunk()?) as usize,
            mean: mean.iter().map(|&number| f32::from_le_bytes(number)).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_files_are_rejected() {
        let calibration = Calibration {
            mean: [0.1, -2.5, 1e-40].into(),
            norm: 8.0,
            n_screens: 7,
            content_hash: ContentHash([3; 32]),
        };
        let bytes = calibration.to_bytes();
        assert_eq!(Calibration::from_bytes(&bytes), Some(calibration.clone()));
        for n in 0..bytes.len() {
            assert_eq!(Calibration::from_bytes(&bytes[..n]), None, "cut at {n}");
            let mut damaged = bytes.clone();
            damaged[n] ^= 4;
            assert_eq!(Calibration::from_bytes(&damaged), None, "damaged at {n}");
        }
        // A valid checksum of a mean with half of a number at its end.
        let mut odd = bytes[..bytes.len() - 10].to_vec();
        odd.extend(checksum(&odd).to_le_bytes());
        assert_eq!(Calibration::from_bytes(&odd), None);
        let folder = tempfile::tempdir().unwrap();
        calibration.write(folder.path()).unwrap();
        let read = |hash, scene_len| Calibration::read(folder.path(), ContentHash(hash), scene_len);
        assert_eq!(read([3; 32], 3), Some(calibration));
        assert_eq!((read([3; 32], 4), read([4; 32], 3)), (None, None));
    }
}
