//! `touchstream study`: every figure and table of the paper by one command.

use crate::commands::train::{leave, stop_flag};
use crate::say::{say, warn_user};
use crate::source_args::ValidationPartWord;
use crate::study::catalog::{ABOUT, named_study};
use crate::study::cell::{Cell, cells_of};
use crate::study::local::Shift;
use crate::study::provenance::Start;
use crate::study::rates::chosen_rates;
use crate::study::report::{study_report, write_report};
use crate::study::scale::Scale;
use crate::study::slurm::{
    ArrayTask, QueueState, SlurmWords, cancel, queue_of, read_names, read_submissions, submit,
};
use crate::study::spec::{MAX_SEEDS, StudySpec};
use crate::train_words::{PresetWord, TrainWords};
use crate::words::is_file_word;
use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand, ValueEnum};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use touchstream_files::write_aside_durably;
use touchstream_lab::run::{Ending, Stage};
use touchstream_lab::study::{LEASE, StudyFolder, Worker};

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

#[derive(Args)]
struct StatusArgs {
    /// The study's folder
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
struct WorkArgs {
    /// The study's folder
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// A file with the names of runs, a line a task
    #[arg(long, value_name = "FILE")]
    list: PathBuf,
    /// Which line, from 0
    #[arg(long, value_name = "N")]
    line: usize,
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
    #[command(flatten)]
    how: HowArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Engine {
    /// This machine
    Local,
    /// A Slurm cluster
    Slurm,
}

#[derive(Args)]
struct StartArgs {
    /// A study (`touchstream study list` names them), or a study file of your own (TOML)
    #[arg(value_name = "STUDY")]
    study: Option<String>,
    /// The study's folder; runs that are in it are not done again [default: studies/STUDY-SCALE]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// How large [default: short]
    #[arg(long, value_enum)]
    scale: Option<Scale>,
    /// Modules: ids and patterns such as none-*; main for the seven of the paper's main figure, all for the 24
    #[arg(long, value_name = "ID,...", value_delimiter = ',', help_heading = "Axes")]
    modules: Option<Vec<String>>,
    /// Tasks: ids, patterns such as sr-* and task files
    #[arg(long, value_name = "ID,...", value_delimiter = ',', help_heading = "Axes")]
    tasks: Option<Vec<String>>,
    /// How many seeds
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=MAX_SEEDS), help_heading = "Axes")]
    seeds: Option<u64>,
    /// Our settings, those that the paper prints, or both
    #[arg(long, value_enum, value_name = "PRESET,...", value_delimiter = ',', help_heading = "Axes")]
    presets: Option<Vec<PresetWord>>,
    /// Switches: numbers and ranges such as 1,4,11..15; 0 is the same task again; or FROM--TO
    #[arg(long, value_name = "N,...", value_delimiter = ',', help_heading = "Axes")]
    switches: Option<Vec<String>>,
    /// Ways of learning a second task, such as layer,unit,layer-plain,layer-shuffled,fine-tuning,old-alone
    #[arg(long, value_name = "WAY,...", value_delimiter = ',', help_heading = "Axes")]
    ways: Option<Vec<String>>,
    /// Steps of every base task [default: the scale's]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Axes")]
    base_steps: Option<u64>,
    /// Where the images of one task come from, if not from where the others do; may be given several times
    #[arg(long = "data-of", value_name = "TASK=SOURCE")]
    data_of: Vec<String>,
    /// Take the learning rates that a study of them chose, and judge on the validation pictures that it did not look at
    #[arg(long, value_name = "DIR")]
    rates: Option<PathBuf>,
    /// Keep the weights of every run, not only its curve
    #[arg(long)]
    keep_weights: bool,
    /// Who does the runs
    #[arg(long, value_enum, default_value = "local")]
    engine: Engine,
    #[command(flatten)]
    slurm: SlurmWords,
    #[command(flatten)]
    how: HowArgs,
    #[command(flatten)]
    words: TrainWords,
}

#[derive(Args)]
pub struct HowArgs {
    /// Runs side by side [default: one a core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    /// Seconds after which a silent process of another machine counts as dead
    #[arg(long, value_name = "SECS", value_parser = clap::value_parser!(u64).range(1..=86_400), hide = true)]
    pub lease: Option<u64>,
}

#[derive(Args)]
struct ResumeArgs {
    /// The study's folder
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Folder of the cache [default: $TOUCHSTREAM_CACHE, else the user's cache]
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
    /// Who does the runs [default: who did them before]
    #[arg(long, value_enum)]
    engine: Option<Engine>,
    #[command(flatten)]
    slurm: SlurmWords,
    #[command(flatten)]
    how: HowArgs,
}

pub fn run(args: &StudyArgs) -> Result<()> {
    match &args.action {
        Some(StudyAction::List) => list(),
        Some(StudyAction::Resume(resume)) => resume.run(),
        Some(StudyAction::Status(status)) => say_status(status),
        Some(StudyAction::Cancel(FolderArgs { folder })) => cancel_jobs(folder),
        Some(StudyAction::Work(work)) => work.run(),
        None => args.start.run(),
    }
}

impl StartArgs {
    fn run(&self) -> Result<()> {
        if self.engine == Engine::Local && self.slurm != SlurmWords::default() {
            bail!("--partition, --time and the like are for --engine slurm");
        }
        let (folder, spec) = self.begin()?;
        match self.engine {
            Engine::Local => {
                work(&folder, &spec, &self.how)?;
                report(&folder, &spec)
            }
            Engine::Slurm => {
                let n_jobs = self.how.jobs.unwrap_or(1);
                submit_jobs(&folder, &spec, &self.slurm, n_jobs, self.words.images.cache.as_deref())
            }
        }
    }
}

impl ResumeArgs {
    fn run(&self) -> Result<()> {
        let folder = StudyFolder::at(&self.folder);
        let mut spec = read_spec(&folder)?;
        set_cache(&mut spec, self.cache.as_deref());
        let before = read_submissions(&folder)?;
        let engine = self.engine.unwrap_or(if before.is_empty() { Engine::Local } else { Engine::Slurm });
        match (engine, before.last()) {
            (Engine::Slurm, last) => {
                let (words, n_jobs) =
                    last.map_or((SlurmWords::default(), 1), |last| (last.words.clone(), last.n_jobs));
                let words = if self.slurm == SlurmWords::default() { &words } else { &self.slurm };
                submit_jobs(&folder, &spec, words, self.how.jobs.unwrap_or(n_jobs), self.cache.as_deref())
            }
            (Engine::Local, _) => {
                work(&folder, &spec, &self.how)?;
                report(&folder, &spec)
            }
        }
    }
}

impl WorkArgs {
    /// The runs of one task, and the bases that they start from where those are missing.
    fn run(&self) -> Result<()> {
        let folder = StudyFolder::at(&self.folder);
        let mut spec = read_spec(&folder)?;
        set_cache(&mut spec, self.cache.as_deref());
        let cells = cells_of(&spec)?;
        let names = read_names(&self.list, self.line)?;
        let mut wanted: Vec<String> = names.clone();
        for name in &names {
            let cell = cells.iter().find(|cell| cell.name == *name);
            let cell = cell.with_context(|| format!("{name} is no run of {}", self.folder.display()))?;
            wanted.extend(cell.job().needs);
        }
        let cells: Vec<&Cell> = cells.iter().filter(|cell| wanted.contains(&cell.name)).collect();
        let task = ArrayTask::this();
        let (must_stop, time_is_up) = (stop_flag()?, time_is_up_flag()?);
        let report = self.how.shift(&folder, &spec, task.as_ref()).work(&cells, &must_stop)?;
        let is_complete = report.say();
        if is_complete {
            return Ok(());
        }
        if time_is_up.load(Ordering::Relaxed)
            && let Some(task) = task
        {
            return task.requeue();
        }
        if must_stop.load(Ordering::Relaxed) {
            return leave(Ending::Interrupted);
        }
        bail!("some runs could not be done; the reasons are above");
    }
}

/// Set when the scheduler says that the time of this task is nearly up.
fn time_is_up_flag() -> Result<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(signal_hook::consts::SIGUSR1, Arc::clone(&flag))?;
    Ok(flag)
}

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
        true => report(folder, spec),
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
fn report(folder: &StudyFolder, spec: &StudySpec) -> Result<()> {
    let report = study_report(folder, spec)?;
    let page = write_report(&report, &folder.report())?;
    if !report.page.lead.is_empty() {
        say!("{}", report.page.lead);
    }
    say!("page     {}  (open it in a browser)", page.display());
    Ok(())
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

fn say_status(args: &StatusArgs) -> Result<()> {
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

fn list() -> Result<()> {
    for (name, about) in ABOUT {
        say!("{name:18} {about}");
    }
    Ok(())
}

/// The study in a folder.
pub fn read_spec(folder: &StudyFolder) -> Result<StudySpec> {
    if !folder.spec().exists() {
        bail!("{} is not the folder of a study: it has no study.toml", folder.path().display());
    }
    StudySpec::read(&folder.spec())
}

/// Where the cache is is not part of a study.
fn set_cache(spec: &mut StudySpec, cache: Option<&Path>) {
    spec.settings.images.cache = cache.map(Path::to_owned);
}

/// Writes a study down in its folder, unless another one is there. Axes may grow and shrink: runs that are done stay.
pub fn begin(folder: &StudyFolder, spec: &StudySpec) -> Result<()> {
    // Everything that is impossible is said before anything is written.
    cells_of(spec)?;
    if folder.spec().exists() {
        let there = StudySpec::read(&folder.spec())?;
        if let Some(field) = spec.difference_of_settings(&there) {
            bail!(
                "{} holds another study ({field} differs); choose another folder with --out, or go on with that one: \
                 touchstream study resume {0}",
                folder.path().display()
            );
        }
    }
    let path = folder.spec();
    write_aside_durably(&path, spec.to_toml()?.as_bytes())
        .with_context(|| format!("cannot write {}", path.display()))?;
    Start::this().note_in(folder)
}

impl StartArgs {
    /// The study that was asked for, and its folder with the study written down in it.
    fn begin(&self) -> Result<(StudyFolder, StudySpec)> {
        let spec = self.spec()?;
        let scale = format!("{:?}", spec.scale).to_lowercase();
        let path =
            self.out.clone().unwrap_or_else(|| Path::new("studies").join(format!("{}-{scale}", spec.name)));
        let folder = StudyFolder::at(path);
        begin(&folder, &spec)?;
        let mut spec = spec;
        set_cache(&mut spec, self.words.images.cache.as_deref());
        Ok((folder, spec))
    }

    fn spec(&self) -> Result<StudySpec> {
        let Some(study) = &self.study else {
            bail!("which study? `touchstream study list` names them; or a study file of your own");
        };
        for (word, is_said, instead) in [
            ("task", self.words.task.is_some(), "tasks"),
            ("module", self.words.module.is_some(), "modules"),
            ("seed", self.words.seed.is_some(), "seeds"),
            ("preset", self.words.preset.is_some(), "presets"),
        ] {
            if is_said {
                bail!("--{word} is for `touchstream train`; a study has --{instead}");
            }
        }
        let mut spec = match is_file_word(study) {
            true => {
                let spec = StudySpec::read(Path::new(study))?;
                StudySpec { scale: self.scale.unwrap_or(spec.scale), ..spec }
            }
            false => named_study(study, self.scale.unwrap_or(Scale::Short))?,
        };
        let axes = [
            (&self.modules, &mut spec.modules),
            (&self.tasks, &mut spec.tasks),
            (&self.switches, &mut spec.switches),
            (&self.ways, &mut spec.ways),
        ];
        for (typed, axis) in axes {
            if let Some(words) = typed {
                *axis = words.clone();
            }
        }
        if let Some(n) = self.seeds {
            spec.seeds = (1..=n).collect();
        }
        if let Some(presets) = &self.presets {
            spec.presets.clone_from(presets);
        }
        if let Some(study) = &self.rates {
            spec.rates = chosen_rates(&StudyFolder::at(study))?;
            spec.settings.images.validation_part = Some(ValidationPartWord::Final);
        }
        spec.steps = self.words.steps.or(spec.steps);
        spec.base_steps = self.base_steps.or(spec.base_steps);
        spec.keep_weights |= self.keep_weights;
        let words = TrainWords { steps: None, ..self.words.clone() }.with_absolute_sources()?;
        spec.settings = words.over(spec.settings);
        for word in &self.data_of {
            let Some((task, source)) = word.split_once('=') else {
                bail!("--data-of takes TASK=SOURCE, not `{word}`");
            };
            let settings = TrainWords { data: Some(source.to_owned()), ..TrainWords::default() };
            let there = spec.settings_of.remove(task).unwrap_or_default();
            spec.settings_of.insert(task.to_owned(), settings.with_absolute_sources()?.over(there));
        }
        spec.checked()
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
            scheduler_job: task.map(|task| task.id.clone()),
        }
    }
}

/// Does what is missing of a study; an error if something stays missing.
pub fn work(folder: &StudyFolder, spec: &StudySpec, how: &HowArgs) -> Result<()> {
    let cells = cells_of(spec)?;
    let must_stop = stop_flag()?;
    let cells: Vec<&Cell> = cells.iter().collect();
    let report = how.shift(folder, spec, None).work(&cells, &must_stop)?;
    let is_complete = report.say();
    if must_stop.load(Ordering::Relaxed) && !is_complete {
        warn_user!("stopped; go on with: touchstream study resume {}", folder.path().display());
        return leave(Ending::Interrupted);
    }
    if !is_complete {
        bail!("some runs could not be done; the reasons are above, and the next start tries them again");
    }
    Ok(())
}
