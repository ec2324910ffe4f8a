//! Why learning curves have no areas.

/// Learning curves that cannot be compared.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StatisticsError {
    #[error("there are no runs")]
    NoRuns,
    /// A run occurs twice and would have double weight.
    #[error("{method} on {task} with seed {seed} is there twice")]
    Twice { method: String, task: String, seed: u64 },
    /// A curve is invalid, or has other steps than the previous ones.
    #[error("the curve of {module} on {task} with seed {seed}: {source}")]
    Curve { module: String, task: String, seed: u64, source: CurveError },
    /// A mean curve is invalid, because the sum of rewards is not finite.
    #[error("the mean curves of {task}: {source}")]
    MeanCurve { task: String, source: CurveError },
    /// Modules can only be compared over the same seeds.
    #[error("no seed of {task} was run with all of its modules")]
    NoSharedSeed { task: String },
    #[error("the best area of {task} is {area}; others can be divided by a positive one only")]
    NoPositiveArea { task: String, area: f64 },
}

/// Why steps and rewards do not form a learning curve.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CurveError {
    #[error("there is no evaluation")]
    Empty,
    #[error("step {step} follows step {before}")]
    StepFalls { step: u64, before: u64 },
    #[error("the reward at step {step} is {reward}")]
    NotFinite { step: u64, reward: f64 },
    /// Curves can only be compared at the same steps.
    #[error("its evaluations are at other steps than those of the first curve")]
    OtherSteps,
}
