//! `touchstream study`: a figure or table of the paper per command.

mod pack;
mod resume;
mod start;
mod status;
mod work;

use crate::signals::{leave, stop_flag};
use crate::stdio::{print_line, warn_user};
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
use touchstream_experiment::study::report::{ReportPlace, StudyReport, study_report, write_report};
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
    /// List the built-in studies
    List,
    /// Resume a study as it was started: here, or on the cluster
    Resume(ResumeArgs),
    /// Show the progress of a study, here and in the cluster's queue
    Status(StatusArgs),
    /// Cancel a study's jobs on the cluster; completed runs are kept
    Cancel(FolderArgs),
    /// Pack a study's completed runs into one small file
    Pack(PackArgs),
    /// Execute some runs of a study: the task of a cluster job
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
    /// Parallel runs [default: the number of cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    /// Seconds without a heartbeat after which a process on another machine is considered dead
    #[arg(long, value_name = "SECS", value_parser = clap::value_parser!(u64).range(1..=86_400), hide = true)]
    pub lease: Option<u64>,
    /// Minimum number of seconds between checkpoints of a run [default: 10]
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

/// Submits the missing runs to the cluster.
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
        print_line!(
            "job {}: {} runs ({}) in {} tasks",
            array.job_id,
            array.n_runs,
            array.what,
            array.n_tasks
        );
    }
    match submitted.is_empty() {
        true => report(folder),
        false => {
            print_line!("follow it with: touchstream study status {}", folder.path().display());
            Ok(())
        }
    }
}

fn cancel_jobs(path: &Path) -> Result<()> {
    let folder = StudyFolder::at(path);
    read_spec(&folder)?;
    let submissions = read_submissions(&folder)?;
    if submissions.is_empty() {
        bail!("{} was not submitted to a cluster; press Ctrl-C where it runs", path.display());
    }
    cancel(&submissions)?;
    print_line!("cancelled; resume with: touchstream study resume {}", path.display());
    Ok(())
}

/// Writes the report of a study into its folder; returns it and the path of its page.
pub fn write_report_of(folder: &StudyFolder) -> Result<(StudyReport, PathBuf)> {
    let spec = &read_spec(folder)?;
    let terminal = Terminal::default();
    let report = study_report(folder, spec, &terminal)?;
    warn_of_unnamed(folder.path(), &unnamed_runs(folder, &cells_of(spec)?)?, &terminal);
    let page = write_report(&report, ReportPlace::Study(folder))?;
    Ok((report, page))
}

/// Writes the report and says where it is.
fn report(folder: &StudyFolder) -> Result<()> {
    let (report, page) = write_report_of(folder)?;
    if !report.page.lead.is_empty() {
        print_line!("{}", report.page.lead);
    }
    print_line!("page     {}  (open it in a browser)", page.display());
    Ok(())
}

fn list() -> Result<()> {
    for (name, about) in NamedStudy::names() {
        print_line!("{name:18} {about}");
    }
    Ok(())
}

/// The cache folder is not part of a study.
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

/// Executes the missing runs of a study and returns the time spent; an error if some remain.
pub fn work(folder: &StudyFolder, spec: &StudySpec, how: &HowArgs) -> Result<SpentTime> {
    let cells = cells_of(spec)?;
    let must_stop = stop_flag()?;
    let cells: Vec<&Cell> = cells.iter().collect();
    let leave_at_once = || {
        warn_user!("stopped; resume with: touchstream study resume {}", folder.path().display());
        leave(Ending::Interrupted);
    };
    let terminal = Terminal::leaving(&leave_at_once);
    let summary = how.options(folder, spec, None).work(&cells, &must_stop, &terminal)?;
    if is_complete(&summary) {
        return Ok(summary.spent);
    }
    print_spent(&summary.spent);
    if must_stop.load(Ordering::Relaxed) {
        warn_user!("stopped; resume with: touchstream study resume {}", folder.path().display());
        leave(Ending::Interrupted);
    }
    bail!("some runs failed; the reasons are above, and the next start retries them");
}

/// Executes the missing runs and baselines of a study here, and writes the report.
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
    print_spent(&spent);
    Ok(())
}

/// Prints where the time of this process went, if it executed any run.
pub fn print_spent(spent: &SpentTime) {
    if !spent.runs.is_zero() {
        warn_user!("{}", spent.words());
    }
}

/// Prints the result of this process; returns whether all runs are complete.
fn is_complete(summary: &WorkSummary) -> bool {
    let JobCounts { n_jobs, n_complete, given_up, .. } = &summary.tally;
    for (name, reason) in given_up.iter().take(20) {
        warn_user!("given up: {name}: {reason}");
    }
    if given_up.len() > 20 {
        warn_user!("given up: {} more", given_up.len() - 20);
    }
    if summary.n_failed > 0 {
        warn_user!("{} runs diverged; the report lists them", summary.n_failed);
    }
    warn_user!("{n_complete} of {n_jobs} runs are complete");
    summary.tally.is_complete()
}

/// This start of the program, for the study's records.
pub fn this_start() -> Start {
    Start::by_arguments(std::env::args().skip(1), env!("TOUCHSTREAM_COMMIT"))
}
