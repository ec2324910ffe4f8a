//! `touchstream rollout`: plays a stream without an agent, with uniform or perfect touches.

use crate::say::say;
use crate::settings_args::SourceArgs;
use crate::settings_args::choice;
use crate::terminal::Terminal;
use crate::text_table::aligned;
use anyhow::Result;
use clap::{Args, ValueEnum};
use serde::Serialize;
use std::io::Write;
use std::path::{Path, PathBuf};
use touchstream_env::reward_map::RewardMap;
use touchstream_env::schedule::Schedule;
use touchstream_env::seed::{RunSeed, StreamName};
use touchstream_env::stimuli::Split;
use touchstream_env::stream::{CueReader, Stream};
use touchstream_env::touch::Touch;
use touchstream_experiment::config::DataFacts;
use touchstream_experiment::config::{needs_of, parse_schedule_arg, parse_task_arg};
use touchstream_experiment::output::OutputFile;

const TOUCHES: StreamName = StreamName::new("rollout/touches");

#[derive(Args)]
pub struct RolloutArgs {
    /// A task id or task file to play for ever
    #[arg(value_name = "TASK", required_unless_present = "schedule")]
    task: Option<String>,
    /// Instead of one task: a schedule such as switch-3, or a schedule file
    #[arg(long, value_name = "SCHEDULE", conflicts_with = "task")]
    schedule: Option<String>,
    /// Steps before the switch of a named schedule
    #[arg(long, value_name = "N", default_value_t = 500)]
    base_steps: u64,
    /// Steps to play
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..))]
    steps: u64,
    /// How to touch
    #[arg(long, value_enum, default_value_t = Policy::Uniform)]
    policy: Policy,
    /// Seed of trials and touches
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Which images
    #[arg(long, value_parser = choice::<Split>(), default_value = "train")]
    split: Split,
    #[command(flatten)]
    source: SourceArgs,
    /// Write every step to a CSV file
    #[arg(long, value_name = "FILE.csv")]
    csv: Option<PathBuf>,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Policy {
    /// Any pixel, each as likely as the others
    Uniform,
    /// A pixel of the largest true value
    Perfect,
}

impl Policy {
    fn word(self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::Perfect => "perfect",
        }
    }
}

/// What a rollout was and what it earned.
#[derive(Serialize)]
struct Rollout {
    data: DataFacts,
    schedule: String,
    split: &'static str,
    seed: u64,
    policy: Policy,
    segments: Vec<SegmentLine>,
}

/// What one stretch of one task earned.
#[derive(Serialize)]
struct SegmentLine {
    segment: u64,
    task: String,
    n_steps: u64,
    n_trials: u64,
    reward_per_trial: f64,
    /// Standard error of the mean over trials.
    standard_error: f64,
}

pub fn run(args: &RolloutArgs) -> Result<()> {
    let schedule = match (&args.schedule, &args.task) {
        (Some(word), _) => parse_schedule_arg(word, args.base_steps)?,
        (None, Some(word)) => Schedule::single(parse_task_arg(word)?),
        (None, None) => unreachable!("the command line asks for one of them"),
    };
    let needs = needs_of(schedule.segments().iter().map(|segment| &segment.task));
    let opened = args.source.how.open(&args.source.data, needs, &Terminal::default())?;
    let (schedule_id, split) = (schedule.id().to_owned(), args.split);
    let (stream, cues) = Stream::open(schedule, opened.stimuli, split, RunSeed(args.seed))?;
    let mut steps = args.csv.as_deref().map(StepFile::create).transpose()?;
    let segments = play(stream, cues, args, steps.as_mut())?;
    let rollout = Rollout {
        data: DataFacts::of(&opened.manifest),
        schedule: schedule_id,
        split: split.name(),
        seed: args.seed,
        policy: args.policy,
        segments,
    };
    if let Some(steps) = steps {
        steps.finish()?;
    }
    if args.json {
        say!("{}", serde_json::to_string_pretty(&rollout)?);
        return Ok(());
    }
    say!("{}", rollout.table().trim_end());
    let Rollout { data: DataFacts { source, content_hash }, seed, split, .. } = rollout;
    say!("\n{} touches, seed {seed}, {split} split, +- one standard error", args.policy.word());
    say!("data {source} {content_hash}");
    Ok(())
}

impl Rollout {
    fn table(&self) -> String {
        let mut cells = vec![["segment", "task", "steps", "trials", "reward a trial"].map(String::from)];
        cells.extend(self.segments.iter().map(|line| {
            [
                line.segment.to_string(),
                line.task.clone(),
                line.n_steps.to_string(),
                line.n_trials.to_string(),
                format!("{:.4} +- {:.4}", line.reward_per_trial, line.standard_error),
            ]
        }));
        aligned(&cells)
    }
}

fn play(
    mut stream: Stream,
    cues: CueReader,
    args: &RolloutArgs,
    mut steps: Option<&mut StepFile>,
) -> Result<Vec<SegmentLine>> {
    let mut random = RunSeed(args.seed).stream(TOUCHES, 0);
    let mut map = RewardMap::zeros();
    let mut lines = Vec::new();
    let mut sums = SegmentSums::default();
    for _ in 0..args.steps {
        let touch = match args.policy {
            Policy::Uniform => Touch::uniform(&mut random),
            Policy::Perfect => {
                stream.reward_map(&mut map);
                map.best_touch()
            }
        };
        let before = stream.clone();
        let reward = stream.touch(touch);
        if let Some(steps) = steps.as_deref_mut() {
            steps.write_step(&before, cues.read(&before).is_some(), touch, reward)?;
        }
        sums.add(f64::from(reward), before.is_last_step());
        if stream.n_switches() > before.n_switches() {
            lines.push(std::mem::take(&mut sums).line(&before));
        }
    }
    if sums.n_steps > 0 {
        lines.push(sums.line(&stream));
    }
    Ok(lines)
}

/// Every step as a line of CSV.
struct StepFile {
    file: OutputFile,
}

impl StepFile {
    fn create(path: &Path) -> Result<Self> {
        let mut file = OutputFile::create(path)?;
        writeln!(file, "step,trial,task,switched,row,col,reward")?;
        Ok(Self { file })
    }

    fn write_step(&mut self, stream: &Stream, switched: bool, touch: Touch, reward: f32) -> Result<()> {
        let task = stream.bound_task().task().id();
        let (step, trial, switched) = (stream.n_steps(), stream.trial_index(), u8::from(switched));
        writeln!(self.file, "{step},{trial},{task},{switched},{},{},{reward}", touch.row(), touch.col())?;
        Ok(())
    }

    fn finish(self) -> Result<()> {
        Ok(self.file.finish()?)
    }
}

/// Only a trial's last touch can earn anything, so its reward is the trial's.
#[derive(Default)]
struct SegmentSums {
    n_steps: u64,
    n_trials: u64,
    rewards: f64,
    squares: f64,
}

impl SegmentSums {
    fn add(&mut self, reward: f64, ends_trial: bool) {
        self.n_steps += 1;
        self.n_trials += u64::from(ends_trial);
        self.rewards += reward;
        self.squares += reward * reward;
    }

    fn line(self, stream: &Stream) -> SegmentLine {
        let n = (self.n_trials as f64).max(1.0);
        let mean = self.rewards / n;
        SegmentLine {
            segment: stream.n_switches(),
            task: stream.bound_task().task().id().to_owned(),
            n_steps: self.n_steps,
            n_trials: self.n_trials,
            reward_per_trial: mean,
            standard_error: ((self.squares / n - mean * mean).max(0.0) / n).sqrt(),
        }
    }
}
