//! Executes runs of a study in this process: all of them, or a part of them on a cluster.

use crate::error::{Context, Result};
use crate::run::{RunFolder, Stage};
use crate::study::cell::Cell;
use crate::study::damaged::{set_damaged_aside, to_be_done};
use crate::study::inputs_pool::InputsPool;
use crate::study::spent_time::{SpentTime, timed};
use crate::study::study_run::StudyRun;
use crate::study::{Ended, Job, JobCounts, Keep, StudyFolder, Worker, WorkerPool, settle_run};
use crate::watch::{Event, Watch};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;
use touchstream_analysis::RunKind;

pub struct WorkOptions<'a> {
    pub folder: &'a StudyFolder,
    pub n_threads: usize,
    pub keeps_weights: bool,
    pub lease: Duration,
    pub checkpoint_every: Duration,
    /// The scheduler's id of this process.
    pub scheduler_job: Option<String>,
}

pub struct WorkSummary {
    pub tally: JobCounts,
    /// Runs of this process that diverged.
    pub n_failed: usize,
    /// CPU time.
    pub spent: SpentTime,
}

impl WorkOptions<'_> {
    /// Executes the missing runs; returns when all are complete or given up, or when it must stop.
    pub fn work(&self, cells: &[&Cell], must_stop: &AtomicBool, watch: &dyn Watch) -> Result<WorkSummary> {
        let complete = set_damaged_aside(self.folder, cells, watch)?;
        complete.iter().for_each(|name| self.folder.attempts(name).clear());
        let missing = to_be_done(self.folder, cells, &complete);
        let wanted: BTreeSet<&str> = missing.iter().map(|cell| cell.name.as_str()).collect();
        // Bases from which no missing run starts are skipped.
        let is_wanted = |cell: &&Cell| complete.contains(&cell.name) || wanted.contains(cell.name.as_str());
        let cells: Vec<&Cell> = cells.iter().copied().filter(is_wanted).collect();
        let mut spent = SpentTime::default();
        let inputs = open_watching_for_stop(must_stop, watch, || {
            timed(&mut spent.encoding, || InputsPool::open(missing.iter().copied(), watch))
        })?;
        let jobs: Vec<Job> = cells.iter().map(|cell| cell.job()).collect();
        watch.on(Event::StudyStarted { cells: &cells, n_threads: self.n_threads });
        let n_diverged = AtomicUsize::new(0);
        let pool = WorkerPool {
            folder: self.folder,
            worker: Worker::this(self.scheduler_job.clone()),
            n_threads: self.n_threads,
            lease: self.lease,
        };
        let do_run = |job: usize, folder: &RunFolder, must_stop: &dyn Fn() -> bool| {
            let (cell, checkpoint_every) = (cells[job], self.checkpoint_every);
            let run = || {
                let inputs = &*inputs.of(cell)?;
                self.do_run(
                    &StudyRun {
                        cell,
                        study: self.folder,
                        inputs,
                        folder,
                        must_stop,
                        watch,
                        checkpoint_every,
                    },
                    &n_diverged,
                )
            };
            run().map_err(|error| error.text())
        };
        let tally = pool.work(&jobs, &do_run, watch, must_stop)?;
        watch.on(Event::StudyEnded);
        spent.runs = tally.cpu_in_runs;
        Ok(WorkSummary { spent, n_failed: n_diverged.into_inner(), tally })
    }

    fn do_run(&self, run: &StudyRun<'_>, n_diverged: &AtomicUsize) -> Result<Ended> {
        let StudyRun { cell, folder, watch, .. } = *run;
        let ended = run.work()?;
        if ended == Ended::Complete {
            folder.write(&folder.facts(), &serde_json::to_vec_pretty(&cell.facts)?)?;
            if folder.read_status()?.is_some_and(|status| status.stage == Stage::Failed) {
                n_diverged.fetch_add(1, Ordering::Relaxed);
                watch.on(Event::StudyRunDiverged { name: &cell.name });
            }
            let is_base = cell.facts.kind == RunKind::Base;
            let keep = if is_base || self.keeps_weights { Keep::Everything } else { Keep::Curve };
            settle_run(folder, keep).with_context(|| cell.name.clone())?;
        }
        Ok(ended)
    }
}

/// Opening images and encoding screens may take long, and no run would be lost: if a stop is requested meanwhile, the
/// process may be ended at once.
fn open_watching_for_stop<T>(must_stop: &AtomicBool, watch: &dyn Watch, open: impl FnOnce() -> T) -> T {
    /// Ends the watching thread, also if opening panics.
    struct Open<'a>(&'a AtomicBool);
    impl Drop for Open<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let is_open = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_open.load(Ordering::Relaxed) {
                if must_stop.load(Ordering::Relaxed) {
                    watch.on(Event::StopRequestedWhileOpening);
                }
                thread::sleep(Duration::from_millis(50));
            }
        });
        let _open = Open(&is_open);
        open()
    })
}
