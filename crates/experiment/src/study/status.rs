//! The progress of a study, in its folder and in Slurm's queue.

use crate::error::Result;
use crate::study::attempts::{AttemptEnd, AttemptResult};
use crate::study::cell::{cells_of, missing_of};
use crate::study::census::Census;
use crate::study::folder::StudyFolder;
use crate::study::intact_runs::damaged_runs;
use crate::study::slurm::{QueueState, queue_of, read_submissions};
use crate::study::spec::StudySpec;
use crate::study::worker::Worker;
use crate::watch::{Event, Watch};
use serde::Serialize;
use std::collections::BTreeSet;

#[derive(Serialize)]
pub struct StudyStatus {
    pub n_runs: usize,
    pub n_complete: usize,
    pub n_failed: usize,
    pub n_running: usize,
    pub n_waiting: usize,
    /// Includes interrupted attempts.
    pub n_attempts: usize,
    pub running: Vec<RunningRun>,
    pub failed: Vec<(String, String)>,
    /// Complete runs that are unreadable; the next start repeats them.
    pub unreadable: Vec<(String, String)>,
    /// Complete runs that are excluded.
    pub strangers: Vec<(String, String)>,
    /// Complete runs that the study's settings do not include.
    pub unnamed: Vec<String>,
    /// Runs whose last attempt failed, and the reason; the next start retries them.
    pub given_up: Vec<(String, String)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<QueueState>,
}

#[derive(Serialize)]
pub struct RunningRun {
    pub name: String,
    pub host: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job: Option<String>,
    pub attempt: u32,
    pub n_steps: u64,
}

/// Reads the progress of a study. If Slurm does not answer, the rest is still returned.
pub fn status_of(folder: &StudyFolder, spec: &StudySpec, watch: &dyn Watch) -> Result<StudyStatus> {
    let cells = cells_of(spec)?;
    let Census { mut records, unnamed } = Census::take(folder, &cells)?;
    let damaged = damaged_runs(folder, records.runs.iter().map(|run| &run.files))?;
    records.runs.retain(|run| damaged.iter().all(|(name, _)| *name != run.name));
    records.unreadable.extend(damaged.into_iter().map(|(name, error)| (name, error.text())));
    if records.lacks_manifests() {
        watch.on(Event::WithoutManifest { path: folder.path() });
    }
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
                given_up.push((name.clone(), error.text()));
                continue;
            }
        };
        n_attempts += records.len();
        let last = records.last().and_then(|record| record.end.as_ref());
        if let Some(AttemptEnd { outcome: AttemptResult::Failed(reason), .. }) = last {
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
    let queue =
        read_submissions(folder).and_then(|all| (!all.is_empty()).then(|| queue_of(&all)).transpose());
    let queue = queue.unwrap_or_else(|error| {
        watch.on(Event::QueueUnknown { problem: &error.text() });
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
