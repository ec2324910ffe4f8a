//! `touchstream rollout`: plays a stream without an agent, with uniform or perfect touches.

use crate::commands::preview::{SplitWord, write_file};
use crate::say::say;
use crate::source_args::SourceArgs;
use crate::text_table::aligned;
use crate::words::{needs_of, schedule_from_word, task_from_word};
use anyhow::Result;
use clap::{Args, ValueEnum};
use serde::Serialize;
use std::fmt::Write;
use std::path::PathBuf;
use touchstream_env::reward_map::RewardMap;
use touchstream_env::schedule::Schedule;
use touchstream_env::seed::{RandomStream, RunSeed, StreamName};
use touchstream_env::stream::{CueReader, Stream};
use touchstream_env::touch::{SCREEN_SIDE_PX, Touch};

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
    #[arg(long, value_enum, default_value_t = SplitWord::Train)]
    split: SplitWord,
    #[command(flatten)]
    source: SourceArgs,
    /// Write every step to a CSV file
    #[arg(long, value_name = "FILE.csv")]
    csv: Option<PathBuf>,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Policy {
    /// Any pixel, each as likely as the others
    Uniform,
    /// A pixel of the largest true value
    Perfect,
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
    #[serde(skip)]
    sum_of_squares: f64,
}

pub fn run(args: &RolloutArgs) -> Result<()> {
    let schedule = match (&args.schedule, &args.task) {
        (Some(word), _) => schedule_from_word(word, args.base_steps)?,
        (None, Some(word)) => Schedule::single(task_from_word(word)?),
        (None, None) => unreachable!("the command line asks for one of them"),
    };
    let needs = needs_of(schedule.segments().iter().map(|segment| &segment.task));
    let opened = args.source.how.open(&args.source.data, needs)?;
    let seed = RunSeed(args.seed);
    let (stream, cues) = Stream::open(schedule, opened.stimuli, args.split.into(), seed)?;
    let mut csv = args.csv.as_ref().map(|_| String::from("step,trial,task,switched,row,col,reward\n"));
    let segments = play(stream, cues, args, seed, csv.as_mut())?;
    if let (Some(path), Some(text)) = (&args.csv, &csv) {
        write_file(path, text.as_bytes())?;
    }
    if args.json {
        say!("{}", serde_json::to_string_pretty(&segments)?);
        return Ok(());
    }
    let mut cells = vec![["segment", "task", "steps", "trials", "reward a trial"].map(String::from)];
    cells.extend(segments.iter().map(|line| {
        let reward = format!("{:.4} +- {:.4}", line.reward_per_trial, line.standard_error);
        [
            line.segment.to_string(),
            line.task.clone(),
            line.n_steps.to_string(),
            line.n_trials.to_string(),
            reward,
        ]
    }));
    say!("{}", aligned(&cells).trim_end());
    say!(
        "\n{} touches, seed {}, +- one standard error; data {} {}",
        args.policy.to_possible_value().map_or(String::new(), |word| word.get_name().to_owned()),
        args.seed,
        opened.manifest.source,
        opened.manifest.content_hash
    );
    Ok(())
}

fn play(
    mut stream: Stream,
    cues: CueReader,
    args: &RolloutArgs,
    seed: RunSeed,
    mut csv: Option<&mut String>,
) -> Result<Vec<SegmentLine>> {
    let mut random = seed.stream(TOUCHES, 0);
    let mut map = RewardMap::zeros();
    let mut segments: Vec<SegmentLine> = Vec::new();
    for _ in 0..args.steps {
        let (step, trial, segment) = (stream.n_steps(), stream.trial_index(), stream.n_switches());
        let task_id = stream.bound_task().task().id().to_owned();
        let switched = cues.read(&stream).is_some();
        let touch = match args.policy {
            Policy::Uniform => uniform_touch(&mut random)?,
            Policy::Perfect => {
                stream.reward_map(&mut map);
                map.best_touch()
            }
        };
        let reward = stream.touch(touch);
        if let Some(csv) = csv.as_deref_mut() {
            writeln!(
                csv,
                "{step},{trial},{task_id},{},{},{},{reward}",
                u8::from(switched),
                touch.row(),
                touch.col()
            )?;
        }
        if segments.last().is_none_or(|line| line.segment != segment) {
            segments.push(SegmentLine {
                segment,
                task: task_id,
                n_steps: 0,
                n_trials: 0,
                reward_per_trial: 0.0,
                standard_error: 0.0,
                sum_of_squares: 0.0,
            });
        }
        if let Some(line) = segments.last_mut() {
            line.add(f64::from(reward), stream.trial_index() > trial);
        }
    }
    segments.iter_mut().for_each(SegmentLine::finish);
    Ok(segments)
}

fn uniform_touch(random: &mut RandomStream) -> Result<Touch> {
    let side = SCREEN_SIDE_PX as u32;
    Ok(Touch::new(random.below(side) as usize, random.below(side) as usize)?)
}

impl SegmentLine {
    /// Only a trial's last touch can earn anything, so its reward is the trial's.
    fn add(&mut self, reward: f64, ends_trial: bool) {
        self.n_steps += 1;
        self.n_trials += u64::from(ends_trial);
        self.reward_per_trial += reward;
        self.sum_of_squares += reward * reward;
    }

    fn finish(&mut self) {
        let n = (self.n_trials as f64).max(1.0);
        self.reward_per_trial /= n;
        let variance = (self.sum_of_squares / n - self.reward_per_trial.powi(2)).max(0.0);
        self.standard_error = (variance / n).sqrt();
    }
}
