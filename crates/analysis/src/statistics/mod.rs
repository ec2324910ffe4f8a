//! Means, areas and comparisons of runs, with intervals and sample sizes.
//!
//! Scores of a study are compared as in Agarwal et al. ("Deep reinforcement learning at the edge of the statistical
//! precipice", 2021; the library rliable): [`mean`] and [`interquartile_mean`] over tasks, [`performance_profile`]s,
//! [`probability_of_improvement`], with intervals by resampling the seeds of each task. Intervals of means are widened
//! for few seeds ([`Width`]). Learning curves are compared as in the paper, by normalized areas ([`task_areas`]) and,
//! for second tasks, by [`gains`].
//!
//! ```
//! use touchstream_env::seed::RunSeed;
//! use touchstream_analysis::statistics::{Resampling, Run, Scores, interquartile_mean};
//!
//! let runs = [0.91, 0.93, 0.88, 0.95].into_iter().zip(1..);
//! let runs = runs.map(|(score, seed)| Run { method: "ems", task: "sr-4way-quadrant", seed, score });
//! let scores = Scores::new(runs).unwrap();
//! let found = interquartile_mean(scores.method("ems").unwrap(), &Resampling::new(RunSeed(1)));
//! assert_eq!((found.value, found.size.n_runs), (0.92, 4));
//! ```
//!
//! Resamples are drawn from `touchstream_env::seed`, so there is no second generator to test, resample 1,000 can be
//! drawn without the 999 before it, and runs and resamples share no random numbers.
//!
//! To this module, tasks and methods are only names.

mod aggregate;
mod curve;
mod error;
mod estimate;
mod gain;
mod improvement;
mod normalized_area;
mod profile;
mod resampling;
mod scores;
mod size;
mod student;
mod widening;

pub use aggregate::{PooledEstimate, interquartile_mean, mean};
pub use curve::{Area, Horizon, area, end, horizon};
pub use error::{CurveError, StatisticsError};
pub(crate) use estimate::Relation;
pub use estimate::{Estimate, student_half_width};
pub use gain::{Gains, gains};
pub use improvement::{Improvement, probability_of_improvement};
pub use normalized_area::{LearningCurve, ModuleArea, TaskAreas, task_areas};
pub use profile::{ProfilePoint, performance_profile};
pub use resampling::{Interval, N_RESAMPLES, Resampling, Width};
pub use scores::{MethodScores, Run, Scores};
pub use size::SampleSize;
pub use widening::widening;
