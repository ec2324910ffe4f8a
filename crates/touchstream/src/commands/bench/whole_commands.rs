//! `touchstream bench commands`: CPU time of whole commands, of two binaries in turn.

use crate::commands::bench::compare::{Compared, alternate, print, this_binary};
use anyhow::{Context, Result, bail};
use clap::Args;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use touchstream_experiment::study::children_cpu_time;

#[derive(Args)]
pub struct CommandsBenchArgs {
    /// A command with its arguments, but without `touchstream` and --out; repeatable
    #[arg(long = "command", value_name = "ARGS", default_values = DEFAULTS)]
    commands: Vec<String>,
    /// The older binary to compare with
    #[arg(long, value_name = "OLD_BINARY")]
    compare: PathBuf,
    /// How often each binary runs each command
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u64).range(2..=1000))]
    pairs: u64,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

const DEFAULTS: [&str; 2] = [
    "train --task sr-2way --steps 8000 --seed 1",
    "study modules --scale smoke --modules ems,none-relu-small --seeds 1 --jobs 1",
];

pub fn run(args: &CommandsBenchArgs) -> Result<()> {
    let binaries = [args.compare.clone(), this_binary()?];
    let work = tempfile::tempdir().context("a temporary folder")?;
    let compared = args
        .commands
        .iter()
        .map(|command| {
            // The first runs fill each binary's cache of images and features, and are not counted.
            for side in [0, 1] {
                cpu_secs(&binaries[side], command, work.path(), side)?;
            }
            let mut secs: [Vec<f64>; 2] = Default::default();
            for side in alternate(args.pairs) {
                secs[side].push(cpu_secs(&binaries[side], command, work.path(), side)?);
            }
            Compared::new(command.clone(), "CPU s", &secs[0], &secs[1], |secs| secs)
        })
        .collect::<Result<Vec<_>>>()?;
    print(&compared, args.pairs, args.json)
}

/// CPU time of one run of a command, its processes included.
fn cpu_secs(binary: &Path, command: &str, work: &Path, side: usize) -> Result<f64> {
    let out = work.join("out");
    let before = children_cpu_time()?;
    let output = Command::new(binary)
        .args(command.split_whitespace())
        .arg("--out")
        .arg(&out)
        .env("TOUCHSTREAM_CACHE", work.join(format!("cache-{side}")))
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot start {}", binary.display()))?;
    let secs = (children_cpu_time()? - before).as_secs_f64();
    if !output.status.success() {
        let messages = String::from_utf8_lossy(&output.stderr);
        bail!("`{} {command}` failed ({}): {}", binary.display(), output.status, messages.trim());
    }
    std::fs::remove_dir_all(&out).with_context(|| out.display().to_string())?;
    Ok(secs)
}
