//! Errors of experiments.

use std::error::Error as StdError;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use touchstream_agents::PlayError;

pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an experiment failed. `Display` prints the outermost cause only, [`Error::text`] all causes.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Settings are impossible, unknown or contradictory.
    #[error("{0}")]
    Settings(String),
    /// The folder or packed file of a run or study is missing or incomplete, or contains something else.
    #[error("{0}")]
    Folder(String),
    /// An encoder or its weights cannot be used.
    #[error("{0}")]
    Encoder(String),
    /// The baselines of localization cannot be computed.
    #[error("{0}")]
    Baselines(String),
    /// Slurm refuses jobs, or they are still running.
    #[error("{0}")]
    Slurm(String),
    /// An error with the file, run, field or step where it occurred.
    #[error("{context}")]
    In { context: String, source: Box<Error> },
    /// A file is damaged, or is something else.
    #[error("{}: {problem}", .path.display())]
    Damaged { path: PathBuf, problem: String },
    #[error("{} holds another run ({difference}); choose another folder, or remove it", .folder.display())]
    OtherRun { folder: PathBuf, difference: String },
    #[error("{} is not the folder of a run, but holds {}; choose another folder", .folder.display(), .file.display())]
    NotARun { folder: PathBuf, file: PathBuf },
    /// A file would be overwritten that no earlier start has written.
    #[error("{} would be overwritten, and is not known to be of an earlier start; choose another folder, or move it", .file.display())]
    NotOurs { file: PathBuf },
    /// The folder contains no study, but something that a study would overwrite.
    #[error("{} is not the folder of a study, but holds {}; choose another folder", .folder.display(), .file.display())]
    NotAStudy { folder: PathBuf, file: PathBuf },
    #[error("another process is working on {}", .folder.display())]
    Busy { folder: PathBuf },
    /// Learning diverged, or features are missing.
    #[error(transparent)]
    Play(#[from] PlayError),
    /// A file cannot be read or written.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// An error of a crate that this one calls.
    #[error(transparent)]
    Other(Box<dyn StdError + Send + Sync>),
}

macro_rules! wrapped {
    ($($error:ty),* $(,)?) => { $(
        impl From<$error> for Error {
            fn from(error: $error) -> Self {
                Self::other(error)
            }
        }
    )* };
}

wrapped!(
    crate::curve::CsvError,
    crate::maps::ExampleError,
    touchstream_agents::MissingFeatures,
    touchstream_agents::SettingsError,
    touchstream_analysis::UnknownSwitchMethod,
    touchstream_encoder::EncodeError,
    touchstream_encoder::EncoderSpecError,
    touchstream_encoder::OnnxError,
    touchstream_encoder::vgg16::weights::WeightsError,
    touchstream_env::schedule::ScheduleError,
    touchstream_env::schedule::UnknownSchedule,
    touchstream_env::stimuli::StimulusError,
    touchstream_env::stream::RestoreError,
    touchstream_env::task::TaskError,
    touchstream_env::task::UnknownTask,
    touchstream_env::trial::BindError,
    touchstream_features::FeatureError,
    touchstream_report::study::png::PngError,
    touchstream_stimuli::SourceError,
    touchstream_stimuli::SpecError,
    serde_json::Error,
    toml::de::Error,
    toml::ser::Error,
);

impl Error {
    pub(crate) fn other(error: impl StdError + Send + Sync + 'static) -> Self {
        Self::Other(Box::new(error))
    }

    pub(crate) fn image(error: impl StdError + Send + Sync + 'static) -> Self {
        Self::In { context: "an image cannot be encoded".into(), source: Box::new(Self::other(error)) }
    }

    pub(crate) fn damaged(path: &Path, problem: impl Into<String>) -> Self {
        Self::Damaged { path: path.to_owned(), problem: problem.into() }
    }

    /// All causes, from the outermost to the innermost: `curve.csv: line 3: ...`.
    pub fn text(&self) -> String {
        text_of(self)
    }

    /// Whether the file may be intact but cannot be read now: permissions, an unreachable server.
    pub fn is_out_of_reach(&self) -> bool {
        match self {
            Self::In { source, .. } => source.is_out_of_reach(),
            Self::Io(error) => is_unreachable(error.kind()),
            Self::Play(_) | Self::Other(_) => self.causes().any(is_unreachable),
            _ => false,
        }
    }

    /// Whether the reader of a pipe has closed it.
    pub fn is_broken_pipe(&self) -> bool {
        match self {
            Self::In { source, .. } => source.is_broken_pipe(),
            Self::Io(error) => error.kind() == ErrorKind::BrokenPipe,
            _ => false,
        }
    }

    /// The kinds of all I/O errors among the causes.
    fn causes(&self) -> impl Iterator<Item = ErrorKind> {
        let mut cause = self.source();
        let causes = std::iter::from_fn(move || {
            let found = cause?;
            cause = found.source();
            Some(found)
        });
        causes.filter_map(|cause| Some(cause.downcast_ref::<io::Error>()?.kind()))
    }
}

/// An error and its causes. A cause that the error before already ends with is not repeated.
pub fn text_of(error: &(dyn StdError + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let words = inner.to_string();
        if !text.ends_with(&words) {
            text += &format!(": {words}");
        }
        cause = inner.source();
    }
    text
}

fn is_unreachable(kind: ErrorKind) -> bool {
    !matches!(
        kind,
        ErrorKind::NotFound | ErrorKind::InvalidData | ErrorKind::UnexpectedEof | ErrorKind::IsADirectory
    )
}

/// Adds where an error occurred.
pub trait Context<T>: Sized {
    fn with_context<C: Into<String>>(self, context: impl FnOnce() -> C) -> Result<T>;

    fn context(self, context: impl Into<String>) -> Result<T> {
        self.with_context(|| context)
    }

    /// Names the file.
    fn at(self, path: impl AsRef<Path>) -> Result<T> {
        self.with_context(|| path.as_ref().display().to_string())
    }
}

impl<T, E: Into<Error>> Context<T> for Result<T, E> {
    fn with_context<C: Into<String>>(self, context: impl FnOnce() -> C) -> Result<T> {
        self.map_err(|error| Error::In { context: context().into(), source: Box::new(error.into()) })
    }
}

impl<T> Context<T> for Option<T> {
    fn with_context<C: Into<String>>(self, context: impl FnOnce() -> C) -> Result<T> {
        self.ok_or_else(|| Error::Folder(context().into()))
    }
}

/// Returns an error of a kind: `bail!(Settings, "steps: {n} is too many")`.
macro_rules! bail {
    ($kind:ident, $($text:tt)*) => { return Err($crate::error::Error::$kind(format!($($text)*))) };
}

pub(crate) use bail;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_cannot_be_read_now_is_not_damaged() {
        #[track_caller]
        fn check(error: impl Into<Error>, expected: bool) {
            let error = Err::<(), Error>(error.into()).context("curve.csv").unwrap_err();
            assert_eq!(error.is_out_of_reach(), expected, "{}", error.text());
            assert!(error.text().starts_with("curve.csv: "));
        }
        for kind in [ErrorKind::PermissionDenied, ErrorKind::TimedOut, ErrorKind::StaleNetworkFileHandle] {
            check(io::Error::from(kind), true);
        }
        check(io::Error::from_raw_os_error(5), true);
        let error = io::Error::from(ErrorKind::PermissionDenied);
        check(Err::<(), _>(error).at("status.json").unwrap_err(), true);
        for kind in [ErrorKind::NotFound, ErrorKind::InvalidData] {
            check(io::Error::from(kind), false);
        }
        check(Error::Folder("plan.lessons: there is none".into()), false);
    }

    #[test]
    fn a_cause_is_told_once() {
        let said = io::Error::other("cannot read the model: no such file");
        let outer = Error::In { context: "no such file".into(), source: Box::new(said.into()) };
        assert_eq!(outer.text(), "no such file: cannot read the model: no such file");
        let twice = Error::In {
            context: "a: no such file".into(),
            source: Box::new(io::Error::other("no such file").into()),
        };
        assert_eq!(twice.text(), "a: no such file");
    }
}
