//! `touchstream train`: a task is learned, or several, one after the other.

use crate::config_files::write_config;
use crate::run_setup::{OpenedRun, RunSetup};
use crate::say::{say, warn_user};
use crate::train_words::{TrainWords, VotingWord};
use crate::training_bar::TrainingBar;
use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use touchstream_lab::run::{CHECKPOINT_EVERY, Ending, RunFolder, Training};

#[derive(Args)]
pub struct TrainArgs {
    /// A configuration file (TOML); flags override what it says
    #[arg(long, value_name = "FILE", conflicts_with = "resume")]
    config: Option<PathBuf>,
    /// The run's folder; a run that was stopped there goes on [default: runs/TASK-MODULE-SEED]
    #[arg(long, value_name = "DIR", conflicts_with = "resume")]
    out: Option<PathBuf>,
    /// Go on with the run in a folder, as its config.toml says
    #[arg(long, value_name = "DIR")]
    resume: Option<PathBuf>,
    /// Seconds between two checkpoints, at least; they are written after evaluations [default: 10]
    #[arg(long, value_name = "SECS")]
    checkpoint_every: Option<f64>,
    /// Print what came of it as JSON
    #[arg(long)]
    json: bool,
    /// Several tasks, one after the other: a schedule file, or the name of one (`touchstream schedules`)
    #[arg(long, value_name = "SCHEDULE", conflicts_with = "task")]
    schedule: Option<String>,
    /// Who is voted on when a task follows another [default: layer]
    #[arg(long, value_enum, value_name = "HOW", help_heading = "Controller")]
    voting: Option<VotingWord>,
    /// Voting alone, without transformed touches and maps
    #[arg(long, help_heading = "Controller")]
    no_transformations: bool,
    #[command(flatten)]
    words: TrainWords,
}

/// What came of a run.
#[derive(Serialize)]
struct Report {
    folder: String,
    ending: &'static str,
    steps: u64,
    validation_reward: Option<f64>,
    validation_reward_se: Option<f64>,
    validation_trials: Option<u64>,
    best_validation_reward: Option<f64>,
    data_hash: String,
    encoder_hash: String,
}

pub fn run(args: &TrainArgs) -> Result<()> {
    let typed = args.typed();
    let words = match (&args.config, &args.resume) {
        (Some(file), _) => typed.over(TrainWords::read(file)?),
        (None, Some(folder)) => resumed_words(&typed, folder)?,
        (None, None) => typed,
    };
    let checkpoint_every = match args.checkpoint_every {
        None => CHECKPOINT_EVERY,
        Some(secs) => Duration::try_from_secs_f64(secs)
            .map_err(|_| anyhow!("checkpoint-every: {secs:e} is not a number of seconds"))?,
    };
    let folder = args.resume.as_ref().or(args.out.as_ref()).cloned();
    run_words(words, Where { folder, checkpoint_every, json: args.json })
}

/// Where a run goes, and what is said of it.
pub struct Where {
    pub folder: Option<PathBuf>,
    pub checkpoint_every: Duration,
    pub json: bool,
}

impl TrainArgs {
    /// All words that were typed.
    fn typed(&self) -> TrainWords {
        TrainWords {
            schedule: self.schedule.clone(),
            voting: self.voting,
            transformations: self.no_transformations.then_some(false),
            ..self.words.clone()
        }
    }
}

/// Trains what words say.
pub fn run_words(words: TrainWords, place: Where) -> Result<()> {
    let setup = RunSetup::new(words)?;
    let folder = place.folder.unwrap_or_else(|| default_folder(&setup));
    let opened = setup.open()?;
    let ending = train(&setup, &opened, &folder, place.checkpoint_every)?;
    if place.json {
        say!("{}", serde_json::to_string_pretty(&report(&folder, &opened, ending)?)?);
    } else if ending == Ending::Finished {
        say_files(&folder)?;
    }
    leave(ending)
}

/// A run that was stopped is no success: a script that goes on afterwards must know.
pub fn leave(ending: Ending) -> Result<()> {
    match ending {
        Ending::Finished => Ok(()),
        Ending::Interrupted => std::process::exit(INTERRUPTED),
    }
}

/// As shells say it of programs that Ctrl-C ends.
const INTERRUPTED: i32 = 130;

fn resumed_words(typed: &TrainWords, folder: &Path) -> Result<TrainWords> {
    let said = TrainWords { images: Default::default(), ..typed.clone() };
    if said != TrainWords::default() {
        bail!("--resume goes on as {}/config.toml says; leave other options out", folder.display());
    }
    Ok(typed.clone().over(TrainWords::read_of_run(&RunFolder::at(folder).config())?))
}

fn default_folder(setup: &RunSetup) -> PathBuf {
    let module = &setup.plan.agent().module.id;
    PathBuf::from("runs").join(format!("{}-{module}-{}", setup.schedule.id(), setup.plan.seed))
}

/// Trains into a folder, with progress on the terminal. Ctrl-C writes a checkpoint first.
pub fn train(
    setup: &RunSetup,
    opened: &OpenedRun,
    path: &Path,
    checkpoint_every: Duration,
) -> Result<Ending> {
    let folder = RunFolder::at(path);
    let training = Training::open(folder.clone(), opened.identity.clone(), opened.world())?;
    let mut training = training.checkpoint_every(checkpoint_every);
    write_config(setup, &folder)?;
    let n_steps = setup.plan.n_steps;
    match training.n_steps() {
        0 => {}
        n if n >= n_steps => warn_user!("{} is finished already", path.display()),
        n => warn_user!("going on from step {n}"),
    }
    let must_stop = stop_flag()?;
    let bar = TrainingBar::new(&setup.tasks, &setup.plan.agent().module.id, training.n_steps(), n_steps);
    let ending = training.run(&|| must_stop.load(Ordering::Relaxed), &mut |moment| bar.show(&moment));
    bar.finish();
    let ending = ending?;
    if ending == Ending::Interrupted {
        warn_user!(
            "stopped at step {} of {n_steps}; go on with: touchstream train --resume {}",
            training.n_steps(),
            path.display()
        );
    } else {
        crate::training_page::write(setup, opened, &training, &folder)?;
    }
    Ok(ending)
}

/// A flag that Ctrl-C and the signals of schedulers set. A second Ctrl-C ends the program at once.
pub fn stop_flag() -> Result<Arc<AtomicBool>> {
    use signal_hook::consts::{SIGINT, SIGTERM, SIGUSR1};
    let flag = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register_conditional_shutdown(SIGINT, INTERRUPTED, Arc::clone(&flag))?;
    for signal in [SIGINT, SIGTERM, SIGUSR1] {
        signal_hook::flag::register(signal, Arc::clone(&flag))?;
    }
    Ok(flag)
}

fn report(folder: &Path, opened: &OpenedRun, ending: Ending) -> Result<Report> {
    let run = RunFolder::at(folder);
    let curve = run.curve_csv();
    let text = std::fs::read_to_string(&curve).with_context(|| curve.display().to_string())?;
    let rows = touchstream_lab::curve::rows_from_csv(&text).with_context(|| curve.display().to_string())?;
    let last = rows.last();
    let n_steps = run.read_status()?.map_or(0, |status| status.n_steps);
    Ok(Report {
        folder: folder.display().to_string(),
        ending: if ending == Ending::Finished { "finished" } else { "interrupted" },
        steps: n_steps,
        validation_reward: last.map(|row| row.validation.reward),
        validation_reward_se: last.map(|row| row.validation.reward_se),
        validation_trials: last.map(|row| row.validation.n_trials),
        best_validation_reward: rows.iter().map(|row| row.validation.reward).reduce(f64::max),
        data_hash: opened.identity.data_hash.clone(),
        encoder_hash: opened.identity.encoder_hash.clone(),
    })
}

/// Says where everything is.
pub fn say_files(path: &Path) -> Result<()> {
    let folder = RunFolder::at(path);
    let status = folder.read_status()?;
    if let Some(reward) = status.and_then(|status| status.validation_reward) {
        say!("validation reward {reward:.3}");
    }
    for (what, file) in [
        ("curve", folder.curve_csv()),
        ("weights", folder.weights()),
        ("maps", folder.maps_png()),
        ("film", folder.film()),
        ("page", folder.page()),
    ] {
        if file.exists() {
            let hint = if what == "page" { "  (open it in a browser)" } else { "" };
            say!("{what:8} {}{hint}", file.display());
        }
    }
    Ok(())
}
