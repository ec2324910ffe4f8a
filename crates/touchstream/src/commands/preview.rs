//! `touchstream preview`: screens above their true reward maps, as a PNG file.

use crate::settings_args::SourceArgs;
use crate::settings_args::choice;
use crate::stdio::print_line;
use crate::terminal::Terminal;
use anyhow::Result;
use clap::Args;
use std::path::PathBuf;
use std::sync::Arc;
use touchstream_env::schedule::Schedule;
use touchstream_env::seed::RunSeed;
use touchstream_env::stimuli::{Split, Stimuli};
use touchstream_env::stream::Stream;
use touchstream_env::task::{Task, paper_tasks};
use touchstream_experiment::config::{needs_of, parse_task_arg};
use touchstream_experiment::output::OutputFile;
use touchstream_report::sheet::{SheetStyle, TaskShots, contact_sheet};
use touchstream_report::trial_shots::shoot_trial;

#[derive(Args)]
pub struct PreviewArgs {
    /// Task ids such as sr-2way or sr-2way+rotation, or task files [default: all thirteen tasks]
    #[arg(value_name = "TASK")]
    tasks: Vec<String>,
    #[command(flatten)]
    source: SourceArgs,
    /// The PNG file to write
    #[arg(long, value_name = "FILE.png", default_value = "preview.png")]
    out: PathBuf,
    /// Screens per task, rounded up to complete trials
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u64).range(1..=64))]
    screens: u64,
    /// Tasks per row
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=32))]
    columns: u64,
    /// Divide the size of screens by N
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=16))]
    shrink: u64,
    /// The split of the images
    #[arg(long, value_parser = choice::<Split>(), default_value = "train")]
    split: Split,
    /// Seed of the trials
    #[arg(long, default_value_t = 0)]
    seed: u64,
}

pub fn run(args: &PreviewArgs) -> Result<()> {
    let tasks: Vec<Task> = if args.tasks.is_empty() {
        paper_tasks().to_vec()
    } else {
        args.tasks.iter().map(|task| parse_task_arg(task)).collect::<Result<_, _>>()?
    };
    let out = OutputFile::create(&args.out)?;
    let opened = args.source.how.open(&args.source.data, needs_of(&tasks), &Terminal::default())?;
    let shots = tasks
        .iter()
        .map(|task| shoot_task(task, &opened.stimuli, args.split, RunSeed(args.seed), args.screens))
        .collect::<Result<Vec<_>>>()?;
    let style = SheetStyle { divisor: args.shrink as usize, n_columns: args.columns as usize };
    out.finish_with(&contact_sheet(&shots, style).to_png()?)?;
    print_line!(
        "{}  ({}, data {})",
        args.out.display(),
        opened.manifest.source,
        opened.manifest.content_hash
    );
    Ok(())
}

/// The first trials of a task, with at least `n_screens` screens in all.
pub fn shoot_task(
    task: &Task,
    stimuli: &Arc<dyn Stimuli>,
    split: Split,
    seed: RunSeed,
    n_screens: u64,
) -> Result<TaskShots> {
    let (mut stream, _) = Stream::open(Schedule::single(task.clone()), Arc::clone(stimuli), split, seed)?;
    let n_trials = n_screens.div_ceil(task.steps_per_trial());
    let trials = (0..n_trials).map(|_| shoot_trial(&mut stream)).collect::<Result<_, _>>()?;
    Ok(TaskShots { id: task.id().into(), title: task.spec().title.clone(), facts: String::new(), trials })
}
