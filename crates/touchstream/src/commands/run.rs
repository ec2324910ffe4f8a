//! `touchstream run`: runs a configuration file.

use crate::commands::train::{RunOptions, run_config};
use crate::settings_args::CacheArg;
use anyhow::Result;
use clap::Args;
use std::path::PathBuf;
use touchstream_experiment::config::RawConfig;
use touchstream_experiment::run::CHECKPOINT_EVERY;

#[derive(Args)]
pub struct RunArgs {
    /// The configuration (TOML): the options of `touchstream train`, and `schedule` for several tasks
    config: PathBuf,
    /// The run's folder; an interrupted run there is resumed [default: runs/TASK-MODULE-SEED]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    cache: CacheArg,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: &RunArgs) -> Result<()> {
    let mut config = RawConfig::read(&args.config)?;
    config.images.cache.clone_from(&args.cache.cache);
    let options =
        RunOptions { folder: args.out.clone(), checkpoint_every: CHECKPOINT_EVERY, json: args.json };
    run_config(config, options)
}
