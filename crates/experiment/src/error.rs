//! Why an experiment cannot be planned, run, read or reported.

use crate::run::RunError;
use crate::study::StudyError;
use std::error::Error as StdError;
use std::io::{self, ErrorKind};

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error, by what it is about. Its text is that of its outermost cause; [`Error::text`] has all of them.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Settings that are impossible, unknown or contradict each other.
    #[error("{0}")]
    Settings(String),
    /// The folder or packed file of a run or study is missing, incomplete, or holds something else.
    #[error("{0}")]
    Folder(String),
    /// An encoder or its weights cannot be used.
    #[error("{0}")]
    Encoder(String),
    /// Baselines of localization cannot be computed.
    #[error("{0}")]
    Baselines(String),
    /// Slurm refuses jobs, or they are still running.
    #[error("{0}")]
    Slurm(String),
    /// An error in a file, run, field or step.
    #[error("{context}")]
    In {
        /// What it is in.
        context: String,
        /// The error.
        source: Box<Error>,
    },
    /// A run failed.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A study's folder cannot be used.
    #[error(transparent)]
    Study(#[from] StudyError),
    /// A file cannot be read or written.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// An error of a crate underneath.
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
    crate::baselines::BoxedScenesError,
    crate::curve::CsvError,
    touchstream_agents::NoScene,
    touchstream_agents::PlayError,
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
    touchstream_report::study::table::TableError,
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

    /// All causes, from the outermost to the innermost: `curve.csv: line 3: ...`.
    pub fn text(&self) -> String {
        let mut text = self.to_string();
        let mut cause = self.source();
        while let Some(inner) = cause {
            text += &format!(": {inner}");
            cause = inner.source();
        }
        text
    }

    /// Whether a file could not be read though it exists and may be intact: permissions, an unreachable server.
    pub fn is_out_of_reach(&self) -> bool {
        match self {
            Self::In { source, .. } => source.is_out_of_reach(),
            Self::Io(error) | Self::Run(RunError::File { error, .. }) => is_unreachable(error.kind()),
            Self::Run(_) | Self::Study(_) | Self::Other(_) => self.causes().any(is_unreachable),
            _ => false,
        }
    }

    /// Whether the reader of something written went away.
    pub fn is_broken_pipe(&self) -> bool {
        match self {
            Self::In { source, .. } => source.is_broken_pipe(),
            Self::Io(error) => error.kind() == ErrorKind::BrokenPipe,
            _ => false,
        }
    }

    /// Kinds of the input and output errors that caused it.
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

fn is_unreachable(kind: ErrorKind) -> bool {
    !matches!(
        kind,
        ErrorKind::NotFound | ErrorKind::InvalidData | ErrorKind::UnexpectedEof | ErrorKind::IsADirectory
    )
}

/// Adds what an error is in.
pub trait Context<T> {
    /// The error in something.
    fn context(self, context: impl Into<String>) -> Result<T>;
    /// The same, described only if there is an error.
    fn with_context<C: Into<String>>(self, context: impl FnOnce() -> C) -> Result<T>;
}

impl<T, E: Into<Error>> Context<T> for Result<T, E> {
    fn context(self, context: impl Into<String>) -> Result<T> {
        self.with_context(|| context)
    }

    fn with_context<C: Into<String>>(self, context: impl FnOnce() -> C) -> Result<T> {
        self.map_err(|error| Error::In { context: context().into(), source: Box::new(error.into()) })
    }
}

/// A missing value is an error of its folder.
impl<T> Context<T> for Option<T> {
    fn context(self, context: impl Into<String>) -> Result<T> {
        self.with_context(|| context)
    }

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
        check(RunError::File { path: "status.json".into(), error: ErrorKind::PermissionDenied.into() }, true);
        for kind in [ErrorKind::NotFound, ErrorKind::InvalidData] {
            check(io::Error::from(kind), false);
        }
        check(Error::Folder("plan.lessons: there is none".into()), false);
    }
}
