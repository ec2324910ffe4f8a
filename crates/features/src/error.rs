//! What can go wrong between a screen and its features.

use std::io;
use std::path::{Path, PathBuf};
use touchstream_encoder::EncodeError;
use touchstream_env::stimuli::StimulusError;
use touchstream_env::trial::BindError;

/// Why features could not be had.
#[derive(Debug, thiserror::Error)]
pub enum FeatureError {
    /// A screen could not be drawn.
    #[error("a screen could not be drawn: {0}")]
    Draw(#[from] StimulusError),
    /// A screen could not be encoded.
    #[error(transparent)]
    Encode(#[from] EncodeError),
    /// A task could not be bound to the training split, which calibration needs.
    #[error("calibration needs the training split: {0}")]
    Bind(#[from] BindError),
    /// An encoder made something that is no number.
    #[error("encoder `{encoder}` made {value} in a {part}: its weights or its input are broken")]
    NotFinite {
        /// Which encoder.
        encoder: String,
        /// `scene vector` or `spatial map`.
        part: &'static str,
        /// What it made.
        value: f32,
    },
    /// A spatial map that half precision cannot hold.
    #[error("encoder `{encoder}` made {value} in a spatial map, and half precision ends at 65504")]
    TooLarge {
        /// Which encoder.
        encoder: String,
        /// What it made.
        value: f32,
    },
    /// The pool of a task has no end.
    #[error(
        "task `{task}` puts templates in too many places to encode them all: bind it with a pool of placements"
    )]
    TooManyScreens {
        /// The task.
        task: String,
    },
    /// Tasks on different images have no features in common.
    #[error("tasks `{first}` and `{second}` are bound to different images")]
    DifferentImages {
        /// A task.
        first: String,
        /// A task with other images.
        second: String,
    },
    /// Encoding ahead of time into a cache that cannot be written.
    #[error("the cache folder {} cannot be written ({reason}): nothing was encoded", folder.display())]
    Unwritable {
        /// The folder.
        folder: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// No task, or tasks without a screen.
    #[error("there is no screen to encode")]
    NoScreens,
    /// A norm that features cannot be scaled to.
    #[error("features cannot be scaled to norm {norm}: it must be a number above 0")]
    Norm {
        /// The norm asked for.
        norm: f32,
    },
    /// The cache's disk is full.
    #[error(
        "no room to write {} ({error}); what was encoded before is kept, and nothing half-written is ever used",
        path.display()
    )]
    NoRoom {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// A file of the cache could not be read or written.
    #[error("{}: {error}", path.display())]
    File {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
}

impl FeatureError {
    /// An error of a file, which may be that there is no room for it.
    pub(crate) fn of_file(path: &Path, error: io::Error) -> Self {
        use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull, WriteZero};
        let path = path.to_owned();
        match error.kind() {
            StorageFull | QuotaExceeded | FileTooLarge | WriteZero => Self::NoRoom { path, error },
            _ => Self::File { path, error },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::error::Error;

    /// Whoever prints an error with its sources prints the reason once.
    #[test]
    fn the_reason_is_said_once() {
        for kind in [io::ErrorKind::StorageFull, io::ErrorKind::PermissionDenied] {
            let error = FeatureError::of_file(Path::new("x"), kind.into());
            assert!(error.to_string().contains(&kind.to_string()) && error.source().is_none(), "{error}");
        }
    }
}
