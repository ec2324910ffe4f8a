//! `touchstream train`: learns one task, or a schedule of several.

use crate::settings_args::{RunSettings, choice, help_of};
use crate::signals::{leave, stop_flag};
use crate::stdio::{print_json, print_line};
use crate::terminal::Terminal;
use crate::text_table::aligned;
use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::Duration;
use touchstream_analysis::StreamResults;
use touchstream_experiment::config::{RawConfig, STREAM};
use touchstream_experiment::curve::rows_from_csv;
use touchstream_experiment::run::{CHECKPOINT_EVERY, Ending, RunFolder, VerifiedRun};
use touchstream_experiment::{Inputs, RunSetup, TrainOptions, default_folder, train};
use touchstream_modules::composite::Voting;

#[derive(Args)]
pub struct TrainArgs {
    /// A configuration file (TOML); options override its values
    #[arg(long, value_name = "FILE", conflicts_with = "resume")]
    config: Option<PathBuf>,
    /// The run's folder; an interrupted run there is resumed [default: runs/TASK-MODULE-SEED]
    #[arg(long, value_name = "DIR", conflicts_with = "resume")]
    out: Option<PathBuf>,
    /// Resume the run in a folder, with the settings of its config.toml
    #[arg(long, value_name = "DIR")]
    resume: Option<PathBuf>,
    /// Minimum number of seconds between checkpoints, which are written after evaluations [default: 10]
    #[arg(long, value_name = "SECS")]
    checkpoint_every: Option<f64>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    #[arg(long, value_name = "SCHEDULE", conflicts_with = "task", help = help_of("schedule"))]
    schedule: Option<String>,
    #[arg(long, value_parser = choice::<Voting>(), value_name = "HOW", help_heading = STREAM, help = help_of("voting"))]
    voting: Option<Voting>,
    /// Voting without transformed copies of the old modules
    #[arg(long, help_heading = STREAM)]
    no_transformations: bool,
    #[command(flatten)]
    settings: RunSettings,
}

#[derive(Serialize)]
struct TrainSummary {
    folder: String,
    ending: &'static str,
    steps: u64,
    validation_reward: Option<f64>,
    validation_reward_se: Option<f64>,
    validation_trials: Option<u64>,
    best_validation_reward: Option<f64>,
    /// Results on each task, if there were several.
    #[serde(skip_serializing_if = "Option::is_none")]
    stream: Option<StreamResults>,
    data_hash: String,
    encoder_hash: String,
}

pub fn run(args: &TrainArgs) -> Result<()> {
    let typed = args.typed();
    let config = match (&args.config, &args.resume) {
        (Some(file), _) => typed.over(RawConfig::read(file)?),
        (None, Some(folder)) => resumed_config(&typed, folder)?,
        (None, None) => typed,
    };
    let checkpoint_every = match args.checkpoint_every {
        None => CHECKPOINT_EVERY,
        Some(secs) => Duration::try_from_secs_f64(secs)
            .map_err(|_| anyhow!("checkpoint-every: {secs:e} is not a number of seconds"))?,
    };
    let folder = args.resume.as_ref().or(args.out.as_ref()).cloned();
    run_config(config, RunOptions { folder, checkpoint_every, json: args.json })
}

pub struct RunOptions {
    pub folder: Option<PathBuf>,
    pub checkpoint_every: Duration,
    pub json: bool,
}

impl TrainArgs {
    fn typed(&self) -> RawConfig {
        RawConfig {
            schedule: self.schedule.clone(),
            voting: self.voting,
            transformations: self.no_transformations.then_some(false),
            ..self.settings.config()
        }
    }
}

pub fn run_config(config: RawConfig, options: RunOptions) -> Result<()> {
    let terminal = Terminal::default();
    let setup = RunSetup::new(config)?;
    let folder = options.folder.unwrap_or_else(|| default_folder(&setup));
    let inputs = setup.open(&terminal)?;
    // Until here Ctrl-C ends the program at once: nothing would be lost.
    let must_stop = stop_flag()?;
    let checkpoint_every = options.checkpoint_every;
    let train_options = TrainOptions { checkpoint_every, ..TrainOptions::into(&folder) };
    let ending = train(&setup, &inputs, &train_options, &must_stop, &terminal)?;
    if options.json {
        print_json(&summary(&folder, &inputs, ending)?)?;
    } else if ending == Ending::Finished {
        print_files(&folder)?;
    }
    leave(ending);
    Ok(())
}

fn resumed_config(typed: &RawConfig, folder: &Path) -> Result<RawConfig> {
    let others = RawConfig { images: Default::default(), ..typed.clone() };
    if others != RawConfig::default() {
        bail!("--resume uses {}/config.toml; remove the other options", folder.display());
    }
    Ok(typed.clone().over(RawConfig::read(&RunFolder::at(folder).config())?))
}

fn summary(folder: &Path, inputs: &Inputs, ending: Ending) -> Result<TrainSummary> {
    let run = VerifiedRun::open(RunFolder::at(folder))?;
    let curve = run.folder().curve_csv();
    let text = run.read_text(&curve)?.with_context(|| format!("{}: it is missing", curve.display()))?;
    let rows = rows_from_csv(&text).with_context(|| curve.display().to_string())?;
    let last = rows.last();
    let n_steps = run.read_status()?.map_or(0, |status| status.n_steps);
    Ok(TrainSummary {
        folder: folder.display().to_string(),
        ending: if ending == Ending::Finished { "finished" } else { "interrupted" },
        steps: n_steps,
        validation_reward: last.map(|row| row.validation.reward),
        validation_reward_se: last.map(|row| row.validation.reward_se),
        validation_trials: last.map(|row| row.validation.n_trials),
        best_validation_reward: rows.iter().map(|row| row.validation.reward).reduce(f64::max),
        stream: stream_results(&run)?,
        data_hash: inputs.data.content_hash.clone(),
        encoder_hash: inputs.encoder_hash.clone(),
    })
}

/// The results in a finished run's folder; `None` if it has one task.
fn stream_results(run: &VerifiedRun) -> Result<Option<StreamResults>> {
    Ok(run.read_json(&run.folder().metrics())?)
}

/// Prints the results of a finished run and its files.
pub fn print_files(path: &Path) -> Result<()> {
    let folder = RunFolder::at(path);
    let run = VerifiedRun::open(folder.clone())?;
    match stream_results(&run)? {
        Some(results) => print_line!("{}", results_text(&results)),
        None => {
            let status = run.read_status()?;
            if let Some(reward) = status.and_then(|status| status.validation_reward) {
                print_line!("validation reward {reward:.3}");
            }
        }
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
            print_line!("{what:8} {}{hint}", file.display());
        }
    }
    Ok(())
}

/// A row per task, and the metrics of continual learning.
fn results_text(results: &StreamResults) -> String {
    let number = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.3}"));
    let signed = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:+.3}"));
    let head =
        ["task", "steps", "chance", "first", "final reward", "scratch", "fine-tuned", "RGain", "TGain"];
    let mut rows = vec![head.map(String::from)];
    rows.extend(results.tasks.iter().map(|task| {
        [
            task.task.clone(),
            task.n_steps.to_string(),
            number(Some(task.chance)),
            number(Some(task.first_reward)),
            number(Some(task.final_reward)),
            number(task.scratch_final_reward),
            number(task.fine_tuning_final_reward),
            signed(task.r_gain),
            signed(task.t_gain),
        ]
    }));
    let mut text = aligned(&rows);
    let head = ["", "average performance", "forgetting", "backward transfer", "forward transfer"];
    let mut rows = vec![head.map(String::from)];
    for (name, metrics) in [("agent", results.agent), ("fine-tuned", results.fine_tuning)] {
        rows.extend(metrics.map(|metrics| {
            [
                name.to_owned(),
                number(Some(metrics.average_performance)),
                number(Some(metrics.forgetting)),
                signed(Some(metrics.backward_transfer)),
                signed(Some(metrics.forward_transfer)),
            ]
        }));
    }
    if rows.len() > 1 {
        text.push('\n');
        text.push_str(&aligned(&rows));
    }
    text
}
