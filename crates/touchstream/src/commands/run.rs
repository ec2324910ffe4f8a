//! `touchstream run`: a configuration file, and nothing else to say.

use crate::commands::train::{Where, run_words};
use crate::train_words::TrainWords;
use anyhow::Result;
use clap::Args;
use std::path::PathBuf;
use touchstream_lab::run::CHECKPOINT_EVERY;

#[derive(Args)]
pub struct RunArgs {
    /// The configuration (TOML): the options of `touchstream train`, and `schedule` for several tasks
    config: PathBuf,
    /// The run's folder; a run that was stopped there goes on [default: runs/TASK-MODULE-SEED]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// The cache folder [default: $TOUCHSTREAM_CACHE, else the user's cache]
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
    /// Print what came of it as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: &RunArgs) -> Result<()> {
    let mut words = TrainWords::read(&args.config)?;
    words.images.cache.clone_from(&args.cache);
    let place = Where { folder: args.out.clone(), checkpoint_every: CHECKPOINT_EVERY, json: args.json };
    run_words(words, place)
}
