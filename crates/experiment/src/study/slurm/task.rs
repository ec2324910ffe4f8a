//! A task of an array, seen from inside.

use crate::error::{Context, Error, Result};
use std::env;
use std::fs;
use std::path::Path;

/// The array task that this process is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrayTask {
    /// `1234_5`, or the id of a job without an array.
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

/// The runs of a task: a line of its array's list, from 0.
pub fn read_names(list: &Path, line: usize) -> Result<Vec<String>> {
    let text = fs::read_to_string(list).at(list)?;
    let names = text.lines().nth(line);
    let names = names.ok_or_else(|| Error::Slurm(format!("{}: there is no line {line}", list.display())))?;
    Ok(names.split_whitespace().map(String::from).collect())
}
