//! What can go wrong with a study.

use std::io;
use std::path::{Path, PathBuf};

/// Why a study cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum StudyError {
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
}

impl StudyError {
    pub(crate) fn of_file(path: &Path) -> impl Fn(io::Error) -> Self {
        let path = path.to_owned();
        move |error| Self::File { path: path.clone(), error }
    }
}
