//! What is not among the findings, and why: nothing goes missing in silence.

use serde::Serialize;

/// A run, a module or a task that counts nowhere, or not everywhere.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct LeftOut {
    /// Which one.
    pub what: String,
    /// Why not.
    pub why: String,
}

impl LeftOut {
    pub(crate) fn new(what: impl Into<String>, why: impl Into<String>) -> Self {
        Self { what: what.into(), why: why.into() }
    }
}
