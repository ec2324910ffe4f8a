//! Errors of encoding screens and reading features.

use std::io;
use std::path::{Path, PathBuf};
use touchstream_encoder::EncodeError;
use touchstream_env::stimuli::StimulusError;
use touchstream_env::trial::BindError;

/// Why features are not available.
#[derive(Debug, thiserror::Error)]
pub enum FeatureError {
    #[error("a screen could not be drawn: {0}")]
    Draw(#[from] StimulusError),
    #[error(transparent)]
    Encode(#[from] EncodeError),
    /// A task could not be bound to the training split, which calibration needs.
    #[error("calibration needs the training split: {0}")]
    Bind(#[from] BindError),
    /// A feature is NaN or infinite; `part` is `scene vector` or `spatial map`.
    #[error("encoder `{encoder}` computed {value} in a {part}: its weights or its input are damaged")]
    NotFinite { encoder: String, part: &'static str, value: f32 },
    #[error("encoder `{encoder}` computed {value} in a spatial map, but half precision ends at 65504")]
    TooLarge { encoder: String, value: f32 },
    #[error(
        "task `{task}` puts templates in too many places to encode them all: bind it with a placement pool"
    )]
    TooManyScreens { task: String },
    #[error("tasks `{first}` and `{second}` are bound to different images")]
    DifferentImages { first: String, second: String },
    /// The cache is not writable, so the work would be lost.
    #[error("the cache folder {} is not writable ({reason}): nothing was encoded", folder.display())]
    Unwritable { folder: PathBuf, reason: String },
    #[error("there is no screen to encode")]
    NoScreens,
    #[error("features cannot be scaled to norm {norm}: it must be above 0")]
    Norm { norm: f32 },
    #[error(
        "no space to write {} ({error}); what was encoded before is kept, and partial files are never used",
        path.display()
    )]
    NoSpace { path: PathBuf, error: io::Error },
    #[error("{}: {error}", path.display())]
    File { path: PathBuf, error: io::Error },
}

impl FeatureError {
    /// An error with a file, possibly [`FeatureError::NoSpace`].
    pub(crate) fn of_file(path: &Path, error: io::Error) -> Self {
        use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull, WriteZero};
        let path = path.to_owned();
        match error.kind() {
            StorageFull | QuotaExceeded | FileTooLarge | WriteZero => Self::NoSpace { path, error },
            _ => Self::File { path, error },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::error::Error;

    /// Printing an error with its sources prints the reason once.
    #[test]
    fn the_reason_is_printed_once() {
        for kind in [io::ErrorKind::StorageFull, io::ErrorKind::PermissionDenied] {
            let error = FeatureError::of_file(Path::new("x"), kind.into());
            assert!(error.to_string().contains(&kind.to_string()) && error.source().is_none(), "{error}");
        }
    }
}
