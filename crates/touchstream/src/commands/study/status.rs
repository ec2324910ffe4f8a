//! `touchstream study status`: how far a study is, here and in the cluster's queue.

use super::read_spec;
use crate::say::say;
use crate::study::cell::cells_of;
use crate::study::slurm::{QueueState, queue_of, read_submissions};
use crate::study::spec::StudySpec;
use anyhow::Result;
use clap::Args;
use serde::Serialize;
use std::path::PathBuf;
use touchstream_lab::run::Stage;
use touchstream_lab::study::{StudyFolder, Worker};

#[derive(Args)]
pub struct StatusArgs {
    /// The study's folder
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

/// How far a study is.
#[derive(Serialize)]
struct StudyStatus {
    n_runs: usize,
    n_complete: usize,
    n_failed: usize,
    n_running: usize,
    n_waiting: usize,
    /// Attempts so far, those that were interrupted among them.
    n_attempts: usize,
    running: Vec<RunningRun>,
    failed: Vec<(String, String)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    queue: Option<QueueState>,
}

#[derive(Serialize)]
struct RunningRun {
    name: String,
    host: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    job: Option<String>,
    attempt: u32,
    n_steps: u64,
}

pub fn run(args: &StatusArgs) -> Result<()> {
    let folder = StudyFolder::at(&args.folder);
    let spec = read_spec(&folder)?;
    let status = status_of(&folder, &spec)?;
    if args.json {
        say!("{}", serde_json::to_string_pretty(&status)?);
        return Ok(());
    }
    let StudyStatus { n_runs, n_complete, n_failed, n_running, n_waiting, n_attempts, .. } = status;
    say!(
        "{n_complete} of {n_runs} runs complete, {n_failed} of them failed; {n_running} running, {n_waiting} waiting; {n_attempts} attempts"
    );
    for run in &status.running {
        let job = run.job.as_ref().map_or_else(String::new, |job| format!(", job {job}"));
        say!("  {}: step {} on {}{job}, attempt {}", run.name, run.n_steps, run.host, run.attempt);
    }
    for (name, reason) in status.failed.iter().take(10) {
        say!("  failed: {name}: {reason}");
    }
    if let Some(queue) = &status.queue {
        let states: Vec<String> = queue.states.iter().map(|(state, n)| format!("{n} {state}")).collect();
        say!("cluster: {}", if states.is_empty() { "nothing queued".to_owned() } else { states.join(", ") });
        if !queue.held.is_empty() {
            say!("held after a failed start; release them with: scontrol release {}", queue.held.join(" "));
        }
    }
    Ok(())
}

fn status_of(folder: &StudyFolder, spec: &StudySpec) -> Result<StudyStatus> {
    let cells = cells_of(spec)?;
    let (complete, begun) = (folder.complete()?, folder.begun()?);
    let worker = Worker::this(None);
    let (mut running, mut failed, mut n_attempts) = (Vec::new(), Vec::new(), 0);
    let mut n_complete = 0;
    for cell in &cells {
        let name = &cell.name;
        let is_complete = complete.contains(name);
        n_complete += usize::from(is_complete);
        if is_complete
            && let Some(status) = folder.status(name)?
            && status.stage == Stage::Failed
        {
            failed.push((name.clone(), status.reason.unwrap_or_default()));
        }
        if !begun.contains(name) {
            continue;
        }
        let attempts = folder.attempts(name);
        if is_complete {
            n_attempts += attempts.count()?;
            continue;
        }
        let records = attempts.records(&worker)?;
        n_attempts += records.len();
        if let Some(record) = records.iter().find(|record| record.is_alive) {
            running.push(RunningRun {
                name: name.clone(),
                host: record.worker.host.clone(),
                job: record.worker.job.clone(),
                attempt: record.number,
                n_steps: attempts.n_steps(),
            });
        }
    }
    let submissions = read_submissions(folder)?;
    let queue = (!submissions.is_empty()).then(|| queue_of(&submissions)).transpose()?;
    Ok(StudyStatus {
        n_runs: cells.len(),
        n_complete,
        n_failed: failed.len(),
        n_running: running.len(),
        n_waiting: cells.len() - n_complete - running.len(),
        n_attempts,
        running,
        failed,
        queue,
    })
}
