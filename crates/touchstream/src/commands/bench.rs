//! `touchstream bench`: how fast things are here, beside what else there is.

mod core_peak;
mod encoder;
mod modules;
mod noise_scenes;
mod peer_args;
mod peers;
mod step_rate;
mod voting;

use anyhow::Result;
use clap::{Args, Subcommand};

#[derive(Args)]
pub struct BenchArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Screens a second of the encoders, and VGG-16's convolutions beside PyTorch and onnxruntime
    Encoder(encoder::EncoderBenchArgs),
    /// Training steps a second of the modules, beside PyTorch and the core's peak
    Modules(modules::ModulesBenchArgs),
    /// Training steps a second with so many frozen modules, beside PyTorch
    Voting(voting::VotingBenchArgs),
}

pub fn run(args: &BenchArgs) -> Result<()> {
    match &args.what {
        What::Encoder(args) => encoder::run(args),
        What::Modules(args) => modules::run(args),
        What::Voting(args) => voting::run(args),
    }
}
