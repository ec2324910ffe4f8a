//! `touchstream bench`: speed on this machine, next to other software or to an older binary.

mod compare;
mod encoder;
mod learning;
mod modules;
mod peers;
mod voting;
mod whole_commands;

use anyhow::Result;
use clap::{Args, Subcommand};

#[derive(Args)]
pub struct BenchArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Screens per second of the encoders, and of VGG-16's convolutions in PyTorch and onnxruntime
    Encoder(encoder::EncoderBenchArgs),
    /// Training steps per second of the modules, also in JAX and PyTorch
    Modules(modules::ModulesBenchArgs),
    /// Training steps per second with frozen modules, also in JAX and PyTorch
    Voting(voting::VotingBenchArgs),
    /// CPU time of whole commands, compared with an older binary
    Commands(whole_commands::CommandsBenchArgs),
}

pub fn run(args: &BenchArgs) -> Result<()> {
    match &args.what {
        What::Encoder(args) => encoder::run(args),
        What::Modules(args) => modules::run(args),
        What::Voting(args) => voting::run(args),
        What::Commands(args) => whole_commands::run(args),
    }
}
