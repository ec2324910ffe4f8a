//! Progress and warnings of an experiment, as events.

use crate::run::Moment;
use crate::study::{AttemptResult, Cell, JobCounts};
use std::fmt;
use std::path::Path;
use touchstream_env::task::Task;
use touchstream_files::Progress;
use touchstream_stimuli::SourceSpec;

/// Receives the events of an experiment. Several threads may report at the same time.
pub trait Watch: Sync {
    fn on(&self, event: Event<'_>);
}

/// Ignores all events.
pub struct Unwatched;

impl Watch for Unwatched {
    fn on(&self, _event: Event<'_>) {}
}

/// `Display` prints notes and warnings as a sentence, and nothing for progress.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub enum Event<'a> {
    /// Long work begins: opening images, drawing or encoding screens.
    WorkStarted {
        what: &'a str,
        total: u64,
    },
    WorkAdvanced {
        n_done: u64,
    },
    WorkFinished,
    /// A remark on images, features or a model.
    Note(&'a str),
    /// Files of a source that cannot be used.
    FilesSkipped {
        source: &'a SourceSpec,
        skipped: &'a [String],
    },

    /// A run continues from a checkpoint.
    RunContinued {
        step: u64,
    },
    /// A run or study of an older program, which cannot be compared with anything.
    WithoutManifest {
        path: &'a Path,
    },
    /// A run had already finished.
    RunAlreadyFinished {
        folder: &'a Path,
    },
    /// A run begins training at its first step, or resumes at `step`.
    TrainingStarted {
        tasks: &'a [Task],
        module: &'a str,
        step: u64,
        n_steps: u64,
    },
    /// An update or evaluation.
    TrainingAdvanced(&'a Moment),
    /// A run ended, for any reason.
    TrainingEnded,
    /// A run was interrupted, and its checkpoint was written.
    RunInterrupted {
        folder: &'a Path,
        step: u64,
        n_steps: u64,
    },

    /// A stop was requested while the study's shared images and features are being opened, which takes long. The
    /// process may be ended at once, because no run has begun.
    StopRequestedWhileOpening,
    /// Work on the runs of a study begins.
    StudyStarted {
        cells: &'a [&'a Cell],
        n_threads: usize,
    },
    /// A run of a study begins in this process.
    StudyRunStarted {
        name: &'a str,
    },
    /// A run of a study continues from a checkpoint.
    StudyRunContinued {
        name: &'a str,
        step: u64,
    },
    /// A run of a study has advanced by `n_steps`.
    StudyRunAdvanced {
        cell: &'a Cell,
        n_steps: u64,
    },
    /// A run of a study is complete, but diverged.
    StudyRunDiverged {
        name: &'a str,
    },
    /// A run of a study ended in this process.
    StudyRunEnded {
        name: &'a str,
        outcome: &'a AttemptResult,
    },
    /// Runs were completed, started or given up, by this or another process.
    StudyAdvanced(&'a JobCounts),
    /// Work on the runs of a study ended.
    StudyEnded,
    /// A complete run cannot be read; it was moved aside and will be repeated.
    RunSetAside {
        name: &'a str,
        problem: &'a str,
        aside: &'a Path,
    },
    /// Complete runs that the study's settings do not include.
    RunsUnnamed {
        study: &'a Path,
        names: &'a [String],
    },
    /// A run that is excluded from the analysis.
    RunExcluded {
        study: &'a Path,
        name: &'a str,
        problem: &'a str,
    },
    /// A run that cannot be read and is not packed.
    RunNotPacked {
        name: &'a str,
        problem: &'a str,
    },
    /// Slurm does not answer.
    QueueUnknown {
        problem: &'a str,
    },
    /// Baselines of localization are computed before any run.
    BaselinesStarted,
    /// Baselines of localization have no regression: there is no Python with scikit-learn.
    NoRegression,
}

impl fmt::Display for Event<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Note(note) => write!(f, "note: {note}"),
            Self::FilesSkipped { source, skipped } => {
                let n = skipped.len();
                write!(f, "skipped {n} of {source}; `touchstream data {source}` names them, for example")?;
                skipped.iter().take(3).try_for_each(|skipped| write!(f, "\n  {skipped}"))
            }
            Self::RunContinued { step } => write!(f, "resuming from step {step}"),
            Self::RunAlreadyFinished { folder } => write!(f, "{} is finished already", folder.display()),
            Self::WithoutManifest { path } => {
                write!(f, "note: {} has no manifest: whether it is intact is unknown", path.display())
            }
            Self::RunInterrupted { folder, step, n_steps } => write!(
                f,
                "stopped at step {step} of {n_steps}; resume with: touchstream train --resume {}",
                folder.display()
            ),
            Self::StudyRunContinued { name, step } => write!(f, "{name} resumes from step {step}"),
            Self::StudyRunEnded { name, outcome: AttemptResult::Failed(reason) } => {
                write!(f, "{name}: {reason}")
            }
            Self::RunSetAside { name, problem, aside } => write!(
                f,
                "{name} cannot be read and is repeated ({problem}); its files are now in {}",
                aside.display()
            ),
            Self::RunsUnnamed { study, names } => {
                let (more, are) = match names.len() {
                    0 | 1 => (String::new(), "it is"),
                    n => (format!(" and {} more", n - 1), "they are"),
                };
                write!(
                    f,
                    "{}: its study.toml names {}{more} nowhere, though {are} complete: start the study once more with axes \
                     that have such runs, which takes them in",
                    study.display(),
                    names.first().map_or("", String::as_str)
                )
            }
            Self::RunExcluded { study, name, problem } => {
                write!(f, "{}: {name} is excluded: {problem}", study.display())
            }
            Self::RunNotPacked { name, problem } => {
                write!(f, "{name} cannot be read and is not packed: {problem}")
            }
            Self::QueueUnknown { problem } => write!(f, "the queue of the cluster is unknown: {problem}"),
            Self::BaselinesStarted => f.write_str("computing the baselines of localization, before any run"),
            Self::NoRegression => f.write_str("no regression: --python is not a Python with scikit-learn"),
            Self::WorkStarted { .. }
            | Self::WorkAdvanced { .. }
            | Self::WorkFinished
            | Self::TrainingStarted { .. }
            | Self::TrainingAdvanced(_)
            | Self::TrainingEnded
            | Self::StopRequestedWhileOpening
            | Self::StudyStarted { .. }
            | Self::StudyRunStarted { .. }
            | Self::StudyRunAdvanced { .. }
            | Self::StudyRunDiverged { .. }
            | Self::StudyRunEnded { .. }
            | Self::StudyAdvanced(_)
            | Self::StudyEnded => Ok(()),
        }
    }
}

/// Reports the progress of long work as events.
pub struct WorkProgress<'a>(pub &'a dyn Watch);

impl Progress for WorkProgress<'_> {
    fn start(&self, what: &str, total: u64) {
        self.0.on(Event::WorkStarted { what, total });
    }

    fn advance(&self, n_done: u64) {
        self.0.on(Event::WorkAdvanced { n_done });
    }

    fn finish(&self) {
        self.0.on(Event::WorkFinished);
    }
}
