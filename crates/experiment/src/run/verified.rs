//! A run whose files are compared with its manifest as they are read: every result that is shown, evaluated or learned
//! from comes through here.

use crate::error::{Context, Error, Result};
use crate::manifest::{MANIFEST, MISSING, Manifest};
use crate::run::RunStatus;
use crate::run::folder::RunFolder;
use crate::run::plan::RunIdentity;
use serde::de::DeserializeOwned;
use std::io;
use std::path::{Path, PathBuf};

#[derive(Clone, Debug)]
pub struct VerifiedRun {
    folder: RunFolder,
    /// `None` for runs of older programs, whose files cannot be compared with anything.
    manifest: Option<Manifest>,
}

impl VerifiedRun {
    /// An error if the manifest is damaged.
    pub fn open(folder: RunFolder) -> Result<Self> {
        let path = folder.path().join(MANIFEST);
        let manifest = match folder.read(&path) {
            Ok(bytes) => Some(Manifest::from_bytes(&bytes, &path)?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error).at(&path),
        };
        Ok(Self { folder, manifest })
    }

    pub fn folder(&self) -> &RunFolder {
        &self.folder
    }

    pub fn manifest(&self) -> Option<&Manifest> {
        self.manifest.as_ref()
    }

    /// Whether the run has a file of this path, intact or not.
    pub fn has(&self, path: &Path) -> bool {
        self.manifest.as_ref().map_or_else(|| self.folder.has(path), |manifest| manifest.has(&name_of(path)))
    }

    /// Reads a file once, and compares what was read. `None` if the run has no such file.
    pub fn read(&self, path: &Path) -> Result<Option<Vec<u8>>> {
        if !self.has(path) {
            return Ok(None);
        }
        let bytes = match self.folder.read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(Error::damaged(path, MISSING));
            }
            Err(error) => return Err(error).at(path),
        };
        if let Some(manifest) = &self.manifest {
            manifest.check(&name_of(path), path, &bytes)?;
        }
        Ok(Some(bytes))
    }

    pub fn read_text(&self, path: &Path) -> Result<Option<String>> {
        let text = self.read(path)?.map(String::from_utf8).transpose();
        text.map_err(|_| Error::damaged(path, "it is not text"))
    }

    pub fn read_json<T: DeserializeOwned>(&self, path: &Path) -> Result<Option<T>> {
        let json = self.read(path)?.map(|bytes| serde_json::from_slice(&bytes)).transpose();
        json.map_err(|error| Error::damaged(path, error.to_string()))
    }

    pub fn read_identity(&self) -> Result<Option<RunIdentity>> {
        self.read_json(&self.folder.identity())
    }

    pub fn read_status(&self) -> Result<Option<RunStatus>> {
        self.read_json(&self.folder.status())
    }

    /// Reads every file. An error names the first that is not as listed.
    pub fn check_all(&self) -> Result<()> {
        let problem = match &self.manifest {
            Some(manifest) => manifest.first_problem(self.folder.path())?,
            None => None,
        };
        problem.map_or(Ok(()), Err)
    }
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

impl RunFolder {
    /// Writes the manifest of a run that is complete.
    pub fn write_manifest(&self) -> Result<()> {
        let identity = self.read_identity()?.map(|identity| identity.hash());
        Manifest::new(identity).with_files_in(self.path(), self.own_files()?)?.write(self.path())
    }

    /// Moves a damaged run to the next free name in its parent folder: `NAME.damaged-1`, ...
    pub fn move_aside(&self) -> Result<PathBuf> {
        let path = std::path::absolute(self.path())?;
        let name = name_of(&path);
        let free = (1..).map(|number| path.with_file_name(format!("{name}.damaged-{number}")));
        let aside = free
            .into_iter()
            .find(|path| !path.exists())
            .unwrap_or_else(|| unreachable!("numbers do not end"));
        std::fs::rename(&path, &aside).at(&path)?;
        Ok(aside)
    }
}
