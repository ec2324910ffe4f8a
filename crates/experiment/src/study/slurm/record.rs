//! The record of submitted jobs: `slurm.json` in the study's folder.

use crate::error::{Context, Result};
use crate::study::StudyFolder;
use crate::study::own_files::SLURM;
use crate::study::slurm::settings::SlurmOptions;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use touchstream_files::write_aside_durably;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Submission {
    pub job_id: u64,
    /// `bases` or `runs`.
    pub what: String,
    pub n_tasks: usize,
    pub n_runs: usize,
    /// File with the runs of each task, one line per task.
    pub list: PathBuf,
    pub words: SlurmOptions,
    /// Parallel runs per task.
    pub n_jobs: u16,
    /// The cache folder.
    pub cache: Option<PathBuf>,
}

/// All arrays of a study, in the order of submission.
pub fn read_submissions(folder: &StudyFolder) -> Result<Vec<Submission>> {
    let Some(bytes) = folder.read_own(SLURM)? else { return Ok(Vec::new()) };
    serde_json::from_slice(&bytes).at(folder.slurm())
}

pub fn note_submission(folder: &StudyFolder, submission: &Submission) -> Result<()> {
    let mut all = read_submissions(folder)?;
    all.push(submission.clone());
    let path = folder.slurm();
    write_aside_durably(&path, serde_json::to_string_pretty(&all)?.as_bytes()).at(&path)
}
