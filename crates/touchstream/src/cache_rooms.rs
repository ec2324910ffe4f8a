//! The parts of the cache folder that are plain files: pictures and weights. Only files of the names that this
//! program gives are counted as its own; nothing else is ever deleted.

use anyhow::{Context, Result};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A part of the cache folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// Rendered pictures of the gallery, and facts about image files.
    Pictures,
    /// Weights of encoders.
    Weights,
}

/// The files of a room.
#[derive(Debug, Default)]
pub struct RoomFiles {
    pub ours: Vec<PathBuf>,
    pub n_bytes: u64,
    /// Files and links that this program did not make.
    pub foreign: Vec<PathBuf>,
    /// Folders, inner ones first.
    folders: Vec<PathBuf>,
}

impl Room {
    fn folders(self) -> &'static [&'static str] {
        match self {
            Self::Pictures => &["gallery", "file-index"],
            Self::Weights => &["weights"],
        }
    }

    fn is_ours(self, name: &str) -> bool {
        let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
        let is_all = |of: fn(&u8) -> bool| !stem.is_empty() && stem.as_bytes().iter().all(of);
        name.starts_with(".aside-")
            || match (self, extension) {
                (Self::Pictures, "bin") => is_all(u8::is_ascii_digit),
                (Self::Pictures, "json") => stem.len() == 16 && is_all(u8::is_ascii_hexdigit),
                (Self::Weights, "safetensors") => stem == "convolutions",
                _ => false,
            }
    }

    /// What is in the room; nothing if it is not there.
    pub fn look(self, cache_dir: &Path) -> Result<RoomFiles> {
        let mut files = RoomFiles::default();
        for name in self.folders() {
            files.walk(self, &cache_dir.join(name))?;
        }
        Ok(files)
    }
}

impl RoomFiles {
    fn walk(&mut self, room: Room, folder: &Path) -> Result<()> {
        let entries = match fs::read_dir(folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            entries => entries.with_context(|| folder.display().to_string())?,
        };
        let mut entries = entries.collect::<io::Result<Vec<_>>>()?;
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            // Of a link, not of what it leads to.
            let kind = entry.file_type()?;
            let is_ours = kind.is_file() && entry.file_name().to_str().is_some_and(|name| room.is_ours(name));
            match (kind.is_dir(), is_ours) {
                (true, _) => self.walk(room, &entry.path())?,
                (false, true) => {
                    self.n_bytes += entry.metadata()?.len();
                    self.ours.push(entry.path());
                }
                (false, false) => self.foreign.push(entry.path()),
            }
        }
        self.folders.push(folder.to_owned());
        Ok(())
    }

    /// Deletes our files, and the folders that are empty then. A file that another process has deleted is gone too.
    pub fn delete(&self) -> Result<()> {
        for path in &self.ours {
            match fs::remove_file(path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                removed => removed.with_context(|| format!("cannot delete {}", path.display()))?,
            }
        }
        // Where something else is in a folder, it stays.
        self.folders.iter().for_each(|folder| _ = fs::remove_dir(folder));
        Ok(())
    }
}
