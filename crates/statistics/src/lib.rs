//! What the runs of a study came to, after the curve and before the report: means, areas and comparisons, each with its
//! interval and the number of runs behind it.
//!
//! Scores of a study are compared as Agarwal et al. ("Deep reinforcement learning at the edge of the statistical
//! precipice", 2021; the library rliable) propose: [`mean`] and [`interquartile_mean`] over tasks,
//! [`performance_profile`]s, [`probability_of_improvement`], with intervals by resampling the seeds of each task; those of
//! means are widened for few seeds ([`Width`]). Learning curves are compared as the paper does, by normalized areas ([`task_areas`]) and, of a second task, by
//! [`gains`].
//!
//! ```
//! use touchstream_env::seed::RunSeed;
//! use touchstream_statistics::{Resampling, Run, Scores, interquartile_mean};
//!
//! let runs = [0.91, 0.93, 0.88, 0.95].into_iter().zip(1..);
//! let runs = runs.map(|(score, seed)| Run { method: "ems", task: "sr-4way-quadrant", seed, score });
//! let scores = Scores::new(runs)?;
//! let found = interquartile_mean(scores.method("ems")?, &Resampling::new(RunSeed(1)));
//! assert_eq!((found.value, found.size.n_runs), (0.92, 4));
//! # Ok::<(), touchstream_statistics::StatisticsError>(())
//! ```
//!
//! Resamples are drawn from `touchstream_env::seed`: a generator of its own would be a second one to test and to trust,
//! resample 1,000 is drawn without the 999 before it, and a named stream shares no numbers with those that made the runs.
//!
//! This crate knows no files, clocks, terminals or global randomness; tasks and methods are names to it.

mod aggregate;
mod curve;
mod error;
mod gain;
mod improvement;
mod normalized_area;
mod profile;
mod resampling;
mod sample;
mod scores;
mod size;
mod student;
mod widening;

pub use aggregate::{Estimate, interquartile_mean, mean};
pub use curve::{Area, Horizon, area, end, horizon};
pub use error::{CurveError, StatisticsError};
pub use gain::{Gains, gains};
pub use improvement::{Improvement, probability_of_improvement};
pub use normalized_area::{LearningCurve, ModuleArea, TaskAreas, task_areas};
pub use profile::{Profile, ProfileRow, performance_profile};
pub use resampling::{Interval, N_RESAMPLES, Resampling, Width};
pub use sample::{BootstrapMean, StudentInterval, bootstrap_mean, student_interval};
pub use scores::{MethodScores, Run, Scores};
pub use size::SampleSize;
pub use widening::widening;
