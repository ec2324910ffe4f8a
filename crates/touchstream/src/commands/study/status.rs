//! `touchstream study status`: how far a study is, here and in the cluster's queue.

use super::read_spec;
use crate::say::{say, warn_user};
use crate::study::cell::{cells_of, missing_of};
use crate::study::census::{Census, warn_of_unnamed};
use crate::study::slurm::{QueueState, queue_of, read_submissions};
use crate::study::spec::StudySpec;
use anyhow::Result;
use clap::Args;
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::PathBuf;
use touchstream_lab::study::{AttemptEnd, Outcome, StudyFolder, Worker};

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
    /// Runs that are there and cannot be read; the next start does them again.
    unreadable: Vec<(String, String)>,
    /// Runs that are complete and count nowhere.
    strangers: Vec<(String, String)>,
    /// Complete runs that the study does not name.
    unnamed: Vec<String>,
    /// Runs that went wrong the last time, and why; the next start tries them again.
    given_up: Vec<(String, String)>,
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
    for (what, runs) in [
        ("failed", &status.failed),
        ("cannot be read", &status.unreadable),
        ("counts nowhere", &status.strangers),
        ("went wrong", &status.given_up),
    ] {
        for (name, reason) in runs.iter().take(10) {
            say!("  {what}: {name}: {reason}");
        }
    }
    warn_of_unnamed(folder.path(), &status.unnamed);
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
    let Census { records, unnamed } = Census::take(folder, &cells)?;
    let strangers = records.strangers.iter().map(|(name, _)| name.as_str());
    let complete: BTreeSet<&str> =
        records.runs.iter().map(|run| run.name.as_str()).chain(strangers).collect();
    let failed: Vec<(String, String)> =
        records.runs.iter().filter_map(|run| Some((run.name.clone(), run.failure.clone()?))).collect();
    let begun = folder.begun()?;
    let worker = Worker::this(None);
    let (mut running, mut given_up, mut n_attempts) = (Vec::new(), Vec::new(), 0);
    let mut n_complete = 0;
    for cell in &cells {
        let name = &cell.name;
        let is_complete = complete.contains(name.as_str());
        n_complete += usize::from(is_complete);
        if !begun.contains(name) {
            continue;
        }
        let attempts = folder.attempts(name);
        if is_complete {
            n_attempts += attempts.count().unwrap_or(0);
            continue;
        }
        let records = match attempts.records(&worker) {
            Ok(records) => records,
            Err(error) => {
                given_up.push((name.clone(), error.to_string()));
                continue;
            }
        };
        n_attempts += records.len();
        let last = records.last().and_then(|record| record.end.as_ref());
        if let Some(AttemptEnd { outcome: Outcome::Failed(reason), .. }) = last {
            given_up.push((name.clone(), reason.clone()));
        }
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
    let names: BTreeSet<String> = complete.iter().map(|&name| name.to_owned()).collect();
    let n_missing = missing_of(&cells, &names).len();
    // What the cluster does not tell takes nothing from what folders tell.
    let queue =
        read_submissions(folder).and_then(|all| (!all.is_empty()).then(|| queue_of(&all)).transpose());
    let queue = queue.unwrap_or_else(|error| {
        warn_user!("the cluster's queue is not known: {error:#}");
        None
    });
    Ok(StudyStatus {
        n_runs: n_complete + n_missing,
        n_complete,
        n_failed: failed.len(),
        n_running: running.len(),
        n_waiting: n_missing.saturating_sub(running.len()),
        n_attempts,
        running,
        failed,
        unreadable: records.unreadable,
        strangers: records.strangers,
        unnamed,
        given_up,
        queue,
    })
}
