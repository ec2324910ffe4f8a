//! A run of a study from the point of view of the worker pool.

/// A run to execute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    pub name: String,
    /// The run that must be complete first.
    pub needs: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// There is a result, even if learning diverged.
    Complete,
    /// A stop was requested; a checkpoint was written.
    Interrupted,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobState {
    Waiting,
    /// This process works on it.
    Here,
    /// Another process works on it.
    Elsewhere,
    Complete,
    /// It failed too often, or its base has failed.
    GivenUp {
        reason: String,
    },
}
