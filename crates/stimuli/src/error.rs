//! Why a source could not be opened.

use crate::manifest::Skipped;
use std::io;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// A file or folder is missing.
    #[error("{}: {missing}; expected {expected}", .root.display())]
    Layout { root: PathBuf, missing: String, expected: &'static str },
    /// A file or folder could not be read or written.
    #[error("{}: {error}", .file.display())]
    Io { file: PathBuf, error: io::Error },
    /// An annotation file is invalid as a whole.
    #[error("{}: {reason}", .file.display())]
    Annotations { file: PathBuf, reason: String },
    #[error("no class `{name}`{}; classes: {}",
        .nearest.as_ref().map(|right| format!(" (did you mean `{right}`?)")).unwrap_or_default(), list(.available))]
    UnknownClass { name: String, nearest: Option<String>, available: Vec<String> },
    #[error("class `{name}` is requested twice")]
    ClassTwice { name: String },
    #[error("class `{name}` cannot be used: {reason}")]
    UnusableClass { name: String, reason: String },
    #[error("{}: no class can be used{}", .root.display(), first_of(.skipped))]
    NoClasses { root: PathBuf, skipped: Vec<Skipped> },
    #[error("strict: {} cannot be used{}", count(.skipped), first_of(.skipped))]
    Strict { skipped: Vec<Skipped> },
    #[error("template of class `{class}`, {}: {reason}", .file.display())]
    Template { class: String, file: PathBuf, reason: String },
    #[error("{what} must be {expected}, not {given}")]
    Size { what: &'static str, expected: &'static str, given: u32 },
    /// The gallery made an unusable image: a bug of the generator.
    #[error("gallery {image}: {reason}")]
    Gallery { image: String, reason: &'static str },
}

impl SourceError {
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
