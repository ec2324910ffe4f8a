//! `touchstream run`: a configuration file, and nothing else to say.

use crate::commands::train::{Where, run_config};
use anyhow::Result;
use clap::Args;
use std::path::PathBuf;
use touchstream_experiment::config::RawConfig;
use touchstream_experiment::run::CHECKPOINT_EVERY;

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
    let mut config = RawConfig::read(&args.config)?;
    config.images.cache.clone_from(&args.cache);
    let place = Where { folder: args.out.clone(), checkpoint_every: CHECKPOINT_EVERY, json: args.json };
    run_config(config, place)
}
