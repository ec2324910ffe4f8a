//! Why there is no result.

/// Runs that cannot be summed up.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StatisticsError {
    /// Nothing to say anything about.
    #[error("there are no runs")]
    NoRuns,
    /// One run would count twice.
    #[error("{method} on {task} with seed {seed} is there twice")]
    Twice {
        /// What was run.
        method: String,
        /// On what.
        task: String,
        /// The run's.
        seed: u64,
    },
    /// NaN or infinite.
    #[error("the score of {method} on {task} with seed {seed} is {score}")]
    NotFinite {
        /// What was run.
        method: String,
        /// On what.
        task: String,
        /// The run's.
        seed: u64,
        /// What is no number.
        score: f64,
    },
    /// A name that no run has.
    #[error("there are no runs of {method}")]
    UnknownMethod {
        /// What was asked for.
        method: String,
    },
    /// Methods are compared on the same tasks only.
    #[error("{method} has no runs on {task}, which others have")]
    MissingTask {
        /// Which of the methods.
        method: String,
        /// What it was not run on.
        task: String,
    },
    /// A profile of nothing.
    #[error("a performance profile needs thresholds")]
    NoThresholds,
    /// NaN or infinite.
    #[error("threshold {idx} is {threshold}")]
    ThresholdNotFinite {
        /// Counted from 0.
        idx: usize,
        /// What is no number.
        threshold: f64,
    },
    /// One of the curves is none, or has other steps than those before it.
    #[error("the curve of {module} on {task} with seed {seed}: {source}")]
    Curve {
        /// What learned.
        module: String,
        /// On what.
        task: String,
        /// The run's.
        seed: u64,
        /// What is wrong with it.
        source: CurveError,
    },
    /// What modules learned over their seeds is no curve: rewards are too large to be summed.
    #[error("the mean curves of {task}: {source}")]
    MeanCurve {
        /// Where.
        task: String,
        /// What is wrong with one.
        source: CurveError,
    },
    /// Modules are compared over the same seeds only.
    #[error("no seed of {task} was run with all of its modules")]
    NoSharedSeed {
        /// Where.
        task: String,
    },
    /// Nothing to divide by.
    #[error("the best area of {task} is {area}; others can be divided by a positive one only")]
    NoPositiveArea {
        /// Where.
        task: String,
        /// The best module's.
        area: f64,
    },
}

/// Steps and rewards that are no learning curve.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CurveError {
    /// No evaluation at all.
    #[error("there is no evaluation")]
    Empty,
    /// Time runs backwards.
    #[error("step {step} stands behind step {before}")]
    StepFalls {
        /// The later evaluation's.
        step: u64,
        /// The earlier evaluation's.
        before: u64,
    },
    /// NaN or infinite.
    #[error("the reward at step {step} is {reward}")]
    NotFinite {
        /// Where.
        step: u64,
        /// What is no number.
        reward: f64,
    },
    /// Curves are compared at the same steps only.
    #[error("its evaluations are at other steps than those of the first curve")]
    OtherSteps,
}
