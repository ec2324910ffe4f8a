//! Why a source could not be opened.

use crate::manifest::Skipped;
use std::io;
use std::path::PathBuf;

/// A source that could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The folder is not laid out as its kind of source must be.
    #[error("{}: {missing}; expected {expected}", .root.display())]
    Layout {
        /// The source's folder.
        root: PathBuf,
        /// What is not there.
        missing: String,
        /// The layout that was looked for.
        expected: &'static str,
    },
    /// A file or folder could not be read or written.
    #[error("{}: {error}", .file.display())]
    Io {
        /// Which.
        file: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// An annotation file as a whole makes no sense.
    #[error("{}: {reason}", .file.display())]
    Annotations {
        /// Which.
        file: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// A class was asked for that the source does not have.
    #[error("no class `{name}`{}; there are: {}",
        .nearest.as_ref().map(|right| format!(" (did you mean `{right}`?)")).unwrap_or_default(), list(.available))]
    UnknownClass {
        /// As asked for.
        name: String,
        /// The likeliest right name.
        nearest: Option<String>,
        /// What there is.
        available: Vec<String>,
    },
    /// A class was asked for twice.
    #[error("class `{name}` is asked for twice")]
    ClassTwice {
        /// Which.
        name: String,
    },
    /// A class was asked for that lacks pictures.
    #[error("class `{name}` cannot be used: {reason}")]
    UnusableClass {
        /// Which.
        name: String,
        /// What it lacks.
        reason: String,
    },
    /// Nothing is left to show.
    #[error("{}: no class can be used{}", .root.display(), first_of(.skipped))]
    NoClasses {
        /// The source's folder.
        root: PathBuf,
        /// What was left out on the way.
        skipped: Vec<Skipped>,
    },
    /// Something would have been skipped, and strictness was asked for.
    #[error("strict: {} cannot be used{}", count(.skipped), first_of(.skipped))]
    Strict {
        /// Everything that would have been skipped.
        skipped: Vec<Skipped>,
    },
    /// A chosen template file cannot be used.
    #[error("template of class `{class}`, {}: {reason}", .file.display())]
    Template {
        /// Of which class.
        class: String,
        /// The chosen file.
        file: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A number of pictures that cannot be made.
    #[error("{what} must be {expected}, not {given}")]
    Size {
        /// Which number.
        what: &'static str,
        /// What it may be.
        expected: &'static str,
        /// What it is.
        given: u32,
    },
    /// A picture of the gallery came out unusable: a fault of the generator.
    #[error("gallery {picture}: {reason}")]
    Gallery {
        /// Which picture.
        picture: String,
        /// What is wrong.
        reason: &'static str,
    },
}

impl SourceError {
    /// An error of the file system at a file.
    pub(crate) fn io(file: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let file = file.into();
        |error| Self::Io { file, error }
    }
}

fn list(names: &[String]) -> String {
    const N_LISTED: usize = 100;
    let listed = names.iter().take(N_LISTED).map(String::as_str).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(N_LISTED) {
        0 => listed,
        n_more => format!("{listed} and {n_more} more"),
    }
}

fn count(skipped: &[Skipped]) -> String {
    match skipped.len() {
        1 => "1 file or entry".to_owned(),
        n => format!("{n} files or entries"),
    }
}

fn first_of(skipped: &[Skipped]) -> String {
    match skipped {
        [] => String::new(),
        [only] => format!(": {only}"),
        [first, rest @ ..] => format!(", first {first}, and {} more", rest.len()),
    }
}
