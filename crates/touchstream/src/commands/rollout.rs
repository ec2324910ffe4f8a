//! `touchstream rollout`: plays a stream with uniform or perfect touches, without an agent.

use crate::settings_args::SourceArgs;
use crate::settings_args::choice;
use crate::stdio::{print_json, print_line};
use crate::terminal::Terminal;
use crate::text_table::aligned;
use anyhow::Result;
use clap::Args;
use serde::Serialize;
use std::io::Write;
use std::path::{Path, PathBuf};
use touchstream_env::schedule::Schedule;
use touchstream_env::seed::RunSeed;
use touchstream_env::stimuli::Split;
use touchstream_env::stream::Stream;
use touchstream_env::touch::Touch;
use touchstream_experiment::config::{Choice, DataFacts, MAX_STEPS};
use touchstream_experiment::config::{needs_of, parse_schedule_arg, parse_task_arg};
use touchstream_experiment::output::OutputFile;
use touchstream_experiment::rollout::{RolloutPolicy, SegmentRewards, play};

#[derive(Args)]
pub struct RolloutArgs {
    /// A task id or task file
    #[arg(value_name = "TASK", required_unless_present = "schedule")]
    task: Option<String>,
    /// A schedule such as switch-3, or a schedule file, instead of one task
    #[arg(long, value_name = "SCHEDULE", conflicts_with = "task")]
    schedule: Option<String>,
    /// Steps before the switch of a named schedule
    #[arg(long, value_name = "N", default_value_t = 500)]
    base_steps: u64,
    /// Steps to play
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..=MAX_STEPS))]
    steps: u64,
    /// How touches are chosen
    #[arg(long, value_parser = choice::<RolloutPolicy>(), default_value = "uniform")]
    policy: RolloutPolicy,
    /// Seed of trials and touches
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// The split of the images
    #[arg(long, value_parser = choice::<Split>(), default_value = "train")]
    split: Split,
    #[command(flatten)]
    source: SourceArgs,
    /// Write all steps to a CSV file
    #[arg(long, value_name = "FILE.csv")]
    csv: Option<PathBuf>,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Rollout {
    data: DataFacts,
    schedule: String,
    split: &'static str,
    seed: u64,
    policy: RolloutPolicy,
    segments: Vec<SegmentRewards>,
}

pub fn run(args: &RolloutArgs) -> Result<()> {
    let schedule = match (&args.schedule, &args.task) {
        (Some(schedule), _) => parse_schedule_arg(schedule, args.base_steps)?,
        (None, Some(task)) => Schedule::single(parse_task_arg(task)?),
        (None, None) => unreachable!("clap requires one of them"),
    };
    let needs = needs_of(schedule.segments().iter().map(|segment| &segment.task));
    let opened = args.source.how.open(&args.source.data, needs, &Terminal::default())?;
    let (schedule_id, split) = (schedule.id().to_owned(), args.split);
    let (stream, cues) = Stream::open(schedule, opened.stimuli, split, RunSeed(args.seed))?;
    let mut steps = args.csv.as_deref().map(StepFile::create).transpose()?;
    let on_step = |before: &Stream, switched, touch, reward| match &mut steps {
        Some(steps) => steps.write_step(before, switched, touch, reward),
        None => Ok(()),
    };
    let segments = play(stream, cues, args.policy, RunSeed(args.seed), args.steps, on_step)?;
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
        return print_json(&rollout);
    }
    print_line!("{}", rollout.table().trim_end());
    let Rollout { data: DataFacts { source, content_hash }, seed, split, .. } = rollout;
    print_line!("\n{} touches, seed {seed}, {split} split, +- one standard error", args.policy.name());
    print_line!("data {source} {content_hash}");
    Ok(())
}

impl Rollout {
    fn table(&self) -> String {
        let mut cells = vec![["segment", "task", "steps", "trials", "reward per trial"].map(String::from)];
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
