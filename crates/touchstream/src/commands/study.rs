//! `touchstream study`: every figure and table of the paper by one command.

mod pack;
mod resume;
mod start;
mod status;
mod work;

use crate::commands::train::{leave, stop_flag};
use crate::say::{say, warn_user};
use crate::study::catalog::NamedStudy;
use crate::study::cell::{Cell, cells_of};
use crate::study::census::{unnamed_runs, warn_of_unnamed};
use crate::study::kept_tasks::KeptTasks;
use crate::study::local::Shift;
use crate::study::provenance::Start;
use crate::study::report::{study_report, write_report};
use crate::study::slurm::{ArrayTask, SlurmWords, cancel, read_submissions, submit};
use crate::study::spec::StudySpec;
use crate::study::spent_time::{SpentTime, timed};
use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand, ValueEnum};
use pack::PackArgs;
use resume::ResumeArgs;
use start::StartArgs;
use status::StatusArgs;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;
use touchstream_files::write_aside_durably;
use touchstream_lab::run::{CHECKPOINT_EVERY, Ending};
use touchstream_lab::study::{LEASE, StudyFolder};
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
    words: &SlurmWords,
    n_jobs: u16,
    cache: Option<&Path>,
) -> Result<()> {
    let cells = cells_of(spec)?;
    let submitted = submit(folder, &spec.name, &cells, words, n_jobs, cache)?;
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
    let report = study_report(folder, spec)?;
    warn_of_unnamed(folder.path(), &unnamed_runs(folder, &cells_of(spec)?)?);
    let page = write_report(&report, &folder.report())?;
    if !report.page.lead.is_empty() {
        say!("{}", report.page.lead);
    }
    say!("page     {}  (open it in a browser)", page.display());
    Ok(())
}

fn list() -> Result<()> {
    for study in NamedStudy::all() {
        say!("{:18} {}", study.name(), study.about());
    }
    Ok(())
}

/// The study in a folder.
pub fn read_spec(folder: &StudyFolder) -> Result<StudySpec> {
    let spec = read_spec_if_any(folder)?;
    spec.with_context(|| {
        format!("{} is not the folder of a study: it has no study.toml", folder.path().display())
    })
}

fn read_spec_if_any(folder: &StudyFolder) -> Result<Option<StudySpec>> {
    let path = folder.spec();
    match path.try_exists() {
        Ok(true) => StudySpec::read(&path).map(Some),
        Ok(false) => Ok(None),
        Err(error) => Err(error).with_context(|| path.display().to_string()),
    }
}

/// Where the cache is is not part of a study.
fn set_cache(spec: &mut StudySpec, cache: Option<&Path>) {
    spec.settings.images.cache = cache.map(Path::to_owned);
}

/// Writes a study down in its folder, unless another one is there, and gives it as it is done from there: with copies of the task
/// files that it names. Axes only ever grow: words that are narrower than before say what to do now, and what is done for others
/// stays. Of several that begin at once, each adds to what the one before has written.
pub fn begin(folder: &StudyFolder, spec: &StudySpec) -> Result<StudySpec> {
    // Everything that is impossible is said before anything is written.
    cells_of(spec)?;
    Beginning::look(folder, spec)?;
    let _turn = folder.take_turn().with_context(|| format!("cannot write {}", folder.spec().display()))?;
    Beginning::look(folder, spec)?.write(folder)
}

/// A study that is about to be written down.
struct Beginning {
    tasks: KeptTasks,
    /// What is done now.
    spec: StudySpec,
    /// What the folder is about from now on.
    whole: StudySpec,
}

impl Beginning {
    /// Looks at what is in the folder; writes nothing.
    fn look(folder: &StudyFolder, spec: &StudySpec) -> Result<Self> {
        let there = read_spec_if_any(folder)?;
        if let Some(field) = there.as_ref().and_then(|there| spec.difference_of_settings(there)) {
            let place = folder.path().display();
            if folder.begun()?.is_empty() {
                bail!(
                    "{place} holds another study ({field} differs), of which no run was begun; remove that folder, or choose \
                     another with --out"
                );
            }
            bail!(
                "{place} holds another study ({field} differs); choose another folder with --out, or go on with that one: \
                 touchstream study resume {place}"
            );
        }
        let tasks = KeptTasks::look(folder, [Some(spec), there.as_ref()].into_iter().flatten())?;
        let mut spec = tasks.with_copies(spec);
        let whole = there.map_or_else(|| spec.clone(), |there| spec.merged(&tasks.with_copies(&there)));
        // Whoever begins with fewer words makes the same baselines.
        spec.python.clone_from(&whole.python);
        whole.check_size()?;
        Ok(Self { tasks, spec, whole })
    }

    fn write(self, folder: &StudyFolder) -> Result<StudySpec> {
        let Self { tasks, spec, whole } = self;
        // What a study names is there before it.
        tasks.write()?;
        let path = folder.spec();
        write_aside_durably(&path, tasks.as_stored(&whole).to_toml()?.as_bytes())
            .with_context(|| format!("cannot write {}", path.display()))?;
        Start::this().note_in(folder)?;
        Ok(spec)
    }
}

impl HowArgs {
    fn shift<'a>(&self, folder: &'a StudyFolder, spec: &StudySpec, task: Option<&ArrayTask>) -> Shift<'a> {
        let n_cores = std::thread::available_parallelism().map_or(1, usize::from);
        Shift {
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
        _ = leave(Ending::Interrupted);
    };
    let report = how.shift(folder, spec, None).work(&cells, &must_stop, &leave_at_once)?;
    if report.say() {
        return Ok(report.spent);
    }
    say_spent(&report.spent);
    if must_stop.load(Ordering::Relaxed) {
        warn_user!("stopped; go on with: touchstream study resume {}", folder.path().display());
        leave(Ending::Interrupted)?;
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
