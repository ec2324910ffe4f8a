//! The runs of a study, done by this process: on a laptop all of them, on a cluster a share.

use crate::say::warn_user;
use crate::study::alone::{Watched, run_alone};
use crate::study::cell::{Cell, CellPlan, missing_of};
use crate::study::damaged::set_damaged_aside;
use crate::study::live_view::LiveView;
use crate::study::rooms::Rooms;
use crate::study::spent_time::{SpentTime, timed};
use anyhow::{Context, Result};
use std::cell::Cell as Shared;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;
use touchstream_analysis::RunKind;
use touchstream_lab::run::{Moment, RunFolder, Stage};
use touchstream_lab::study::{Crew, Ended, Job, Keep, StudyFolder, Tally, Worker, settle_run};

/// How a process works on a study.
pub struct Shift<'a> {
    pub folder: &'a StudyFolder,
    pub n_threads: usize,
    pub keeps_weights: bool,
    pub lease: Duration,
    pub checkpoint_every: Duration,
    /// What a scheduler calls this process.
    pub scheduler_job: Option<String>,
}

/// What came of it.
pub struct ShiftReport {
    pub tally: Tally,
    /// Runs of this process that are complete because they cannot be learned.
    pub n_failed: usize,
    /// What it took.
    pub spent: SpentTime,
}

impl Shift<'_> {
    /// Does what is missing of these runs; comes back when all are complete, given up, or when it must stop. Told to stop before
    /// the first run, it leaves: what is encoded is kept.
    pub fn work(
        &self,
        cells: &[&Cell],
        must_stop: &AtomicBool,
        leave: &(dyn Fn() + Sync),
    ) -> Result<ShiftReport> {
        let complete = set_damaged_aside(self.folder, cells)?;
        complete.iter().for_each(|name| self.folder.attempts(name).clear());
        let missing = missing_of(cells.iter().copied(), &complete);
        let wanted: BTreeSet<&str> = missing.iter().map(|cell| cell.name.as_str()).collect();
        // Bases that nothing starts from any more are nobody's.
        let is_wanted = |cell: &&Cell| complete.contains(&cell.name) || wanted.contains(cell.name.as_str());
        let cells: Vec<&Cell> = cells.iter().copied().filter(is_wanted).collect();
        let mut spent = SpentTime::default();
        let rooms = unless_told_to_leave(must_stop, leave, || {
            timed(&mut spent.encoding, || Rooms::open(missing.iter().copied()))
        })?;
        let jobs: Vec<Job> = cells.iter().map(|cell| cell.job()).collect();
        let view = LiveView::new(cells.clone(), self.n_threads);
        let crew = Crew {
            folder: self.folder,
            worker: Worker::this(self.scheduler_job.clone()),
            n_threads: self.n_threads,
            lease: self.lease,
        };
        let do_run = |job: usize, folder: &RunFolder, must_stop: &dyn Fn() -> bool| {
            let ended = self.do_run(cells[job], &rooms, folder, must_stop, &view);
            ended.map_err(|error| format!("{error:#}"))
        };
        let tally = crew.work(&jobs, &do_run, &view, must_stop)?;
        view.finish();
        spent.runs = tally.cpu_in_runs;
        Ok(ShiftReport { spent, n_failed: view.n_failed(), tally })
    }

    fn do_run(
        &self,
        cell: &Cell,
        rooms: &Rooms,
        folder: &RunFolder,
        must_stop: &dyn Fn() -> bool,
        view: &LiveView<'_>,
    ) -> Result<Ended> {
        let room = rooms.of(cell)?;
        let facts = serde_json::to_vec_pretty(&cell.facts)?;
        folder.write(&folder.path().join(RUN_FACTS), &facts)?;
        let last_step = Shared::new(None);
        let on_moment = |moment: Moment| {
            let before: u64 = last_step.replace(Some(moment.n_steps)).unwrap_or(moment.n_steps);
            view.add_steps(cell, moment.n_steps.saturating_sub(before));
        };
        let on_return = |n_steps: u64| view.say_return(cell, n_steps);
        let watched = Watched {
            must_stop,
            on_moment: &on_moment,
            on_return: &on_return,
            checkpoint_every: self.checkpoint_every,
        };
        let seed = cell.facts.seed;
        let ended = match &cell.what {
            CellPlan::Alone(words) => run_alone(words, &room, folder, &watched)?,
            CellPlan::Base(plan) => plan.run_base(&room, seed, folder, &watched)?,
            CellPlan::Second(plan) => {
                let RunKind::Second { base, way, .. } = &cell.facts.kind else {
                    anyhow::bail!("{} does not say what it starts from", cell.name);
                };
                let base = self.folder.run(base);
                plan.run_second(&room, seed, *way, &base, folder, &watched)?
            }
        };
        if ended == Ended::Complete {
            if folder.read_status()?.is_some_and(|status| status.stage == Stage::Failed) {
                view.add_failure();
            }
            let is_base = cell.facts.kind == RunKind::Base;
            let keep = if is_base || self.keeps_weights { Keep::Everything } else { Keep::Curve };
            settle_run(folder, keep).with_context(|| cell.name.clone())?;
        }
        Ok(ended)
    }
}

/// Opening images and encoding screens may take long: whoever is told to stop meanwhile need not wait for their end.
fn unless_told_to_leave<T>(must_stop: &AtomicBool, leave: &(dyn Fn() + Sync), open: impl FnOnce() -> T) -> T {
    /// Opened, or given up by a panic: the watcher must end in any case.
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
                    leave();
                }
                thread::sleep(Duration::from_millis(50));
            }
        });
        let _open = Open(&is_open);
        open()
    })
}

/// Says what a run of a study is.
pub const RUN_FACTS: &str = "run.json";

impl ShiftReport {
    /// For the terminal; gives whether everything is complete.
    pub fn say(&self) -> bool {
        let Tally { n_jobs, n_complete, given_up, .. } = &self.tally;
        for (name, reason) in given_up.iter().take(20) {
            warn_user!("given up: {name}: {reason}");
        }
        if given_up.len() > 20 {
            warn_user!("given up: {} more", given_up.len() - 20);
        }
        if self.n_failed > 0 {
            warn_user!("{} runs diverged: that is their result, and the report says so", self.n_failed);
        }
        warn_user!("{n_complete} of {n_jobs} runs are complete");
        self.tally.is_complete()
    }
}
