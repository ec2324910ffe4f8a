//! One run of a study, seen from those who have to get it done.

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// The run's name: that of its folder.
    pub name: String,
    /// The run that must be complete before.
    pub needs: Option<String>,
}

/// How work on a run came to an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// There is a result, if only that it cannot be learned.
    Complete,
    /// Somebody asked to stop; a checkpoint was written.
    Interrupted,
}

/// Where a run stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobState {
    /// Nobody has it.
    Waiting,
    /// This process does it.
    Here,
    /// Somebody else does it.
    Elsewhere,
    /// There is a result.
    Complete,
    /// It went wrong too often, or what it needs has failed.
    GivenUp {
        /// Why.
        reason: String,
    },
}
