//! `touchstream study`: every figure and table of the paper by one command.

mod pack;
mod resume;
mod start;
mod status;
mod work;

use crate::say::{say, warn_user};
use crate::signals::{leave, stop_flag};
use crate::terminal::Terminal;
use anyhow::{Result, bail};
use clap::{Args, Subcommand, ValueEnum};
use pack::PackArgs;
use resume::ResumeArgs;
use start::StartArgs;
use status::StatusArgs;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;
use touchstream_experiment::config::Choice;
use touchstream_experiment::run::{CHECKPOINT_EVERY, Ending};
use touchstream_experiment::study::report::{study_report, write_report};
use touchstream_experiment::study::slurm::{ArrayTask, SlurmOptions, cancel, read_submissions, submit};
use touchstream_experiment::study::{
    Cell, JobCounts, LEASE, NamedStudy, SpentTime, Start, StudyFolder, StudySpec, WorkOptions, WorkSummary,
    cells_of, read_spec, timed, unnamed_runs, warn_of_unnamed,
};
use work::WorkArgs;

#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct StudyArgs {
    #[command(subcommand)]
    action: Option<StudyAction>,
    #[command(flatten)]
    start: StartArgs,
}

#[derive(Subcommand)]
enum StudyAction {
    /// List the program's own studies
    List,
    /// Go on with a study where it is, as it was started: here, or on the cluster
    Resume(ResumeArgs),
    /// Say how far a study is, here and in the cluster's queue
    Status(StatusArgs),
    /// Take a study's jobs back from the cluster; what is done stays
    Cancel(FolderArgs),
    /// Put what is complete of a study into one small file, for others or for later
    Pack(PackArgs),
    /// Do some runs of a study: what a job of the cluster does
    #[command(hide = true)]
    Work(WorkArgs),
}

#[derive(Args)]
struct FolderArgs {
    /// The study's folder
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Engine {
    /// This machine
    Local,
    /// A Slurm cluster
    Slurm,
}

#[derive(Args)]
pub struct HowArgs {
    /// Runs side by side [default: one a core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    /// Seconds after which a silent process of another machine counts as dead
    #[arg(long, value_name = "SECS", value_parser = clap::value_parser!(u64).range(1..=86_400), hide = true)]
    pub lease: Option<u64>,
    /// Seconds between two checkpoints of a run, at least [default: 10]
    #[arg(long, value_name = "SECS", hide = true)]
    pub checkpoint_every: Option<u32>,
}

pub fn run(args: &StudyArgs) -> Result<()> {
    match &args.action {
        Some(StudyAction::List) => list(),
        Some(StudyAction::Resume(resume)) => resume.run(),
        Some(StudyAction::Status(status)) => status::run(status),
        Some(StudyAction::Cancel(FolderArgs { folder })) => cancel_jobs(folder),
        Some(StudyAction::Pack(pack)) => pack.run(),
        Some(StudyAction::Work(work)) => work.run(),
        None => args.start.run(),
    }
}

/// Gives what is missing to the cluster, and says so.
fn submit_jobs(
    folder: &StudyFolder,
    spec: &StudySpec,
    options: &SlurmOptions,
    n_jobs: u16,
    cache: Option<&Path>,
) -> Result<()> {
    let cells = cells_of(spec)?;
    let submitted = submit(folder, &spec.name, &cells, options, n_jobs, cache, &Terminal::default())?;
    for array in &submitted {
        say!("job {}: {} runs ({}) in {} tasks", array.job_id, array.n_runs, array.what, array.n_tasks);
    }
    match submitted.is_empty() {
        true => report(folder),
        false => {
            say!("follow it with: touchstream study status {}", folder.path().display());
            Ok(())
        }
    }
}

fn cancel_jobs(path: &Path) -> Result<()> {
    let folder = StudyFolder::at(path);
    read_spec(&folder)?;
    let submissions = read_submissions(&folder)?;
    if submissions.is_empty() {
        bail!("{} was not given to a cluster; Ctrl-C stops a study that runs here", path.display());
    }
    cancel(&submissions)?;
    say!("cancelled; go on with: touchstream study resume {}", path.display());
    Ok(())
}

/// Writes the report and says where it is.
fn report(folder: &StudyFolder) -> Result<()> {
    let spec = &read_spec(folder)?;
    let terminal = Terminal::default();
    let report = study_report(folder, spec, &terminal)?;
    warn_of_unnamed(folder.path(), &unnamed_runs(folder, &cells_of(spec)?)?, &terminal);
    let page = write_report(&report, &folder.report())?;
    if !report.page.lead.is_empty() {
        say!("{}", report.page.lead);
    }
    say!("page     {}  (open it in a browser)", page.display());
    Ok(())
}

fn list() -> Result<()> {
    for (name, about) in NamedStudy::names() {
        say!("{name:18} {about}");
    }
    Ok(())
}

/// Where the cache is is not part of a study.
fn set_cache(spec: &mut StudySpec, cache: Option<&Path>) {
    spec.settings.images.cache = cache.map(Path::to_owned);
}

impl HowArgs {
    fn options<'a>(
        &self,
        folder: &'a StudyFolder,
        spec: &StudySpec,
        task: Option<&ArrayTask>,
    ) -> WorkOptions<'a> {
        let n_cores = std::thread::available_parallelism().map_or(1, usize::from);
        WorkOptions {
            folder,
            n_threads: self.jobs.map_or(n_cores, usize::from),
            keeps_weights: spec.keep_weights,
            lease: self.lease.map_or(LEASE, Duration::from_secs),
            checkpoint_every: self
                .checkpoint_every
                .map_or(CHECKPOINT_EVERY, |secs| Duration::from_secs(secs.into())),
            scheduler_job: task.map(|task| task.id.clone()),
        }
    }
}

/// Does what is missing of a study and says what it took so far; an error if something stays missing.
pub fn work(folder: &StudyFolder, spec: &StudySpec, how: &HowArgs) -> Result<SpentTime> {
    let cells = cells_of(spec)?;
    let must_stop = stop_flag()?;
    let cells: Vec<&Cell> = cells.iter().collect();
    let leave_at_once = || {
        warn_user!("stopped; go on with: touchstream study resume {}", folder.path().display());
        leave(Ending::Interrupted);
    };
    let terminal = Terminal::leaving(&leave_at_once);
    let summary = how.options(folder, spec, None).work(&cells, &must_stop, &terminal)?;
    if is_complete(&summary) {
        return Ok(summary.spent);
    }
    say_spent(&summary.spent);
    if must_stop.load(Ordering::Relaxed) {
        warn_user!("stopped; go on with: touchstream study resume {}", folder.path().display());
        leave(Ending::Interrupted);
    }
    bail!("some runs could not be done; the reasons are above, and the next start tries them again");
}

/// Does what is missing of a study here, baselines too, and reports it.
fn work_and_report(
    folder: &StudyFolder,
    spec: &StudySpec,
    how: &HowArgs,
    make_baselines: impl FnOnce() -> Result<()>,
) -> Result<()> {
    let mut baselines = Duration::ZERO;
    timed(&mut baselines, make_baselines)?;
    let mut spent = work(folder, spec, how)?;
    spent.baselines = baselines;
    timed(&mut spent.report, || report(folder))?;
    say_spent(&spent);
    Ok(())
}

/// Where the time of this process went, if it did any run.
pub fn say_spent(spent: &SpentTime) {
    if !spent.runs.is_zero() {
        warn_user!("{}", spent.words());
    }
}

/// Prints what this process did; returns whether everything is complete.
fn is_complete(summary: &WorkSummary) -> bool {
    let JobCounts { n_jobs, n_complete, given_up, .. } = &summary.tally;
    for (name, reason) in given_up.iter().take(20) {
        warn_user!("given up: {name}: {reason}");
    }
    if given_up.len() > 20 {
        warn_user!("given up: {} more", given_up.len() - 20);
    }
    if summary.n_failed > 0 {
        warn_user!("{} runs diverged: that is their result, and the report says so", summary.n_failed);
    }
    warn_user!("{n_complete} of {n_jobs} runs are complete");
    summary.tally.is_complete()
}

/// This start of the program, for the records of a study.
pub fn this_start() -> Start {
    Start::by_arguments(std::env::args().skip(1), env!("TOUCHSTREAM_COMMIT"))
}
