//! What is excluded from the findings, and why.

use serde::Serialize;

/// A run, a module or a task that is excluded from all or some tables, and why.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct LeftOut {
    pub what: String,
    pub why: String,
}

impl LeftOut {
    pub(crate) fn new(what: impl Into<String>, why: impl Into<String>) -> Self {
        Self { what: what.into(), why: why.into() }
    }
}
