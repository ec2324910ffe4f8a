//! The sections of the cache folder that consist of plain files: images and weights. Only files with names that this
//! program uses are counted and deleted. If another process deletes a file meanwhile, it is skipped.

use crate::error::{Context, Result};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use touchstream_encoder::install::{AbandonedFolder, working_folders};
use touchstream_files::none_if_not_found;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheSection {
    /// Rendered images of the gallery, and an index of image files.
    Pictures,
    /// Weights of encoders, and files left by killed installations.
    Weights,
}

/// Which files in a folder belong to this program.
#[derive(Clone, Copy, Debug)]
enum Ours {
    /// Files whose names this program uses in a section.
    ByName(CacheSection),
    /// All files, because this is a working folder of the program.
    All,
}

#[derive(Debug, Default)]
pub struct SectionFiles {
    pub ours: Vec<PathBuf>,
    pub n_bytes: u64,
    /// Files and links that do not belong to this program.
    pub foreign: Vec<PathBuf>,
    /// Folders that an installation is using; their files are neither counted nor deleted.
    pub in_use: Vec<PathBuf>,
    /// Folders, inner ones first.
    folders: Vec<PathBuf>,
    /// Locks on abandoned installations, held until they are deleted.
    _left_behind: Vec<AbandonedFolder>,
}

impl CacheSection {
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

    /// The files of the section; none if it does not exist.
    pub fn scan(self, cache_dir: &Path) -> Result<SectionFiles> {
        let mut files = SectionFiles::default();
        for name in self.folders() {
            files.walk(Ours::ByName(self), &cache_dir.join(name))?;
        }
        if self == Self::Weights {
            for folder in working_folders(cache_dir).at(cache_dir)? {
                match AbandonedFolder::claim(&folder) {
                    Some(claim) => {
                        files._left_behind.push(claim);
                        files.walk(Ours::All, &folder)?;
                    }
                    None => files.in_use.push(folder),
                }
            }
        }
        Ok(files)
    }
}

impl SectionFiles {
    fn walk(&mut self, ours: Ours, folder: &Path) -> Result<()> {
        self.try_walk(ours, folder).at(folder)
    }

    fn try_walk(&mut self, ours: Ours, folder: &Path) -> io::Result<()> {
        let Some(entries) = none_if_not_found(fs::read_dir(folder))? else { return Ok(()) };
        let mut entries = entries.collect::<io::Result<Vec<_>>>()?;
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            // Links are not followed.
            let Some(facts) = none_if_not_found(entry.metadata())? else { continue };
            let is_ours = match ours {
                Ours::All => true,
                Ours::ByName(section) => {
                    facts.is_file() && entry.file_name().to_str().is_some_and(|name| section.is_ours(name))
                }
            };
            match (facts.is_dir(), is_ours) {
                (true, _) => self.try_walk(ours, &entry.path())?,
                (false, true) => {
                    self.n_bytes += facts.len();
                    self.ours.push(entry.path());
                }
                (false, false) => self.foreign.push(entry.path()),
            }
        }
        self.folders.push(folder.to_owned());
        Ok(())
    }

    pub fn is_empty(&self) -> bool {
        self.ours.is_empty()
    }

    /// Deletes the program's files, then empty folders. Files that another process has already deleted are skipped.
    pub fn delete(&self) -> Result<()> {
        for path in &self.ours {
            none_if_not_found(fs::remove_file(path))
                .with_context(|| format!("cannot delete {}", path.display()))?;
        }
        // Folders that contain other files cannot be removed and stay.
        self.folders.iter().for_each(|folder| _ = fs::remove_dir(folder));
        Ok(())
    }
}
