//! `touchstream study work`: one task of a cluster job.

use super::{HowArgs, is_complete, print_spent, set_cache};
use crate::signals::{leave, stop_flag, time_is_up_flag};
use crate::terminal::Terminal;
use anyhow::{Context, Result, bail};
use clap::Args;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use touchstream_experiment::run::Ending;
use touchstream_experiment::study::slurm::{ArrayTask, WANTS_ANOTHER_TURN, read_names};
use touchstream_experiment::study::{Cell, StudyFolder, cells_of, read_spec};

#[derive(Args)]
pub struct WorkArgs {
    /// The study's folder
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// A file with names of runs, one line per task
    #[arg(long, value_name = "FILE")]
    list: PathBuf,
    /// The line, from 0
    #[arg(long, value_name = "N")]
    line: usize,
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
    #[command(flatten)]
    how: HowArgs,
}

impl WorkArgs {
    /// Executes the runs of one task, and missing base runs that they start from.
    pub fn run(&self) -> Result<()> {
        let folder = StudyFolder::at(&self.folder);
        let mut spec = read_spec(&folder)?;
        set_cache(&mut spec, self.cache.as_deref());
        let cells = cells_of(&spec)?;
        let names = read_names(&self.list, self.line)?;
        let mut wanted: Vec<String> = names.clone();
        for name in &names {
            let cell = cells.iter().find(|cell| cell.name == *name);
            let cell = cell.with_context(|| format!("{name} is not a run of {}", self.folder.display()))?;
            wanted.extend(cell.job().needs);
        }
        let cells: Vec<&Cell> = cells.iter().filter(|cell| wanted.contains(&cell.name)).collect();
        let task = ArrayTask::this();
        let (must_stop, time_is_up) = (stop_flag()?, time_is_up_flag()?);
        let leave_at_once = || leave_for(&time_is_up);
        let options = self.how.options(&folder, &spec, task.as_ref());
        let summary = options.work(&cells, &must_stop, &Terminal::leaving(&leave_at_once))?;
        let is_complete = is_complete(&summary);
        print_spent(&summary.spent);
        if is_complete {
            return Ok(());
        }
        if must_stop.load(Ordering::Relaxed) {
            leave_for(&time_is_up);
        }
        bail!("some runs failed; the reasons are above");
    }
}

/// The exit code asks the scheduler to requeue the task, unless it was cancelled.
fn leave_for(time_is_up: &AtomicBool) {
    match time_is_up.load(Ordering::Relaxed) {
        true => std::process::exit(WANTS_ANOTHER_TURN),
        false => leave(Ending::Interrupted),
    }
}
