//! The array task that this process runs in.

use crate::config::read_text;
use crate::error::{Error, Result};
use std::env;
use std::path::Path;

/// An array task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrayTask {
    /// `1234_5`; without an array, the id of the job.
    pub id: String,
}

impl ArrayTask {
    /// `None` if Slurm did not start this process.
    pub fn this() -> Option<Self> {
        let set = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
        let id = match (set("SLURM_ARRAY_JOB_ID"), set("SLURM_ARRAY_TASK_ID")) {
            (Some(job), Some(task)) => format!("{job}_{task}"),
            _ => set("SLURM_JOB_ID")?,
        };
        Some(Self { id })
    }
}

/// The names of a task's runs, from line number `line` (from 0) of its array's list.
pub fn read_names(list: &Path, line: usize) -> Result<Vec<String>> {
    let text = read_text(list)?;
    let names = text.lines().nth(line);
    let names = names.ok_or_else(|| Error::Slurm(format!("{}: there is no line {line}", list.display())))?;
    Ok(names.split_whitespace().map(String::from).collect())
}
