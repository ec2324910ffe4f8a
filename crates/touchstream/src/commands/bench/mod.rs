//! `touchstream bench`: how fast things are here, beside what else there is.

mod encoder;
mod peers;

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
}

pub fn run(args: &BenchArgs) -> Result<()> {
    match &args.what {
        What::Encoder(args) => encoder::run(args),
    }
}
