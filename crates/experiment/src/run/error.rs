//! What can go wrong with a run.

use crate::maps::ExampleError;
use std::io;
use std::path::{Path, PathBuf};
use touchstream_agents::{NoScene, PlayError, SettingsError};

/// Why a run cannot start or go on.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A file cannot be read or written.
    #[error("{}: {error}", .path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A file is not what it should be.
    #[error("{}: {problem}", .path.display())]
    Damaged {
        /// Which.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// The folder holds another run.
    #[error("{} holds another run ({difference}); choose another folder, or remove it", .folder.display())]
    OtherRun {
        /// The folder.
        folder: PathBuf,
        /// How they differ.
        difference: String,
    },
    /// The folder is used for something else.
    #[error("{} is not the folder of a run, but holds {}; choose another folder", .folder.display(), .file.display())]
    NotARun {
        /// The folder.
        folder: PathBuf,
        /// What would be written over.
        file: PathBuf,
    },
    /// Somebody else works on the run.
    #[error("another process is working on {}", .folder.display())]
    Busy {
        /// The folder.
        folder: PathBuf,
    },
    /// The agent cannot be built.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// Learning diverged, or features are missing.
    #[error(transparent)]
    Play(#[from] PlayError),
    /// Features are missing.
    #[error(transparent)]
    NoScene(#[from] NoScene),
    /// An example cannot be shown.
    #[error(transparent)]
    Example(#[from] ExampleError),
    /// A picture cannot be encoded.
    #[error("a picture cannot be encoded: {0}")]
    Picture(String),
}

impl RunError {
    pub(crate) fn of_file(path: &Path) -> impl Fn(io::Error) -> Self {
        let path = path.to_owned();
        move |error| Self::File { path: path.clone(), error }
    }

    pub(crate) fn of_picture(error: impl std::fmt::Display) -> Self {
        Self::Picture(error.to_string())
    }

    pub(crate) fn damaged(path: &Path, problem: impl Into<String>) -> Self {
        Self::Damaged { path: path.to_owned(), problem: problem.into() }
    }
}
