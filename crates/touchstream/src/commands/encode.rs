//! `touchstream encode`: encodes the screens of tasks into the cache that all runs share.

use crate::settings_args::{EncoderArgs, SourceArgs, choice};
use crate::stdio::{print_json, print_line, warn_user};
use crate::terminal::Terminal;
use anyhow::{Result, bail};
use clap::Args;
use indicatif::DecimalBytes;
use std::num::NonZeroU32;
use touchstream_env::stimuli::Split;
use touchstream_env::task::Task;
use touchstream_env::trial::PlacementPool;
use touchstream_experiment::config::{needs_of, parse_task_arg};
use touchstream_experiment::{CalibrationFacts, EncodeSummary, ScreensToEncode, encode_screens};
use touchstream_files::file_in_the_way;

#[derive(Args)]
pub struct EncodeArgs {
    /// Task ids or task files, separated by commas
    #[arg(long = "task", value_name = "ID,...", value_delimiter = ',', required = true)]
    tasks: Vec<String>,
    #[command(flatten)]
    encoder: EncoderArgs,
    /// Which images [default: both splits]
    #[arg(long, value_parser = choice::<Split>())]
    split: Option<Split>,
    /// Also keep spatial maps: 12 times the disk space with vgg16, 4 times with compact
    #[arg(long)]
    maps: bool,
    /// Size of the placement pool: match screens per split, for tasks whose templates move
    #[arg(long, value_name = "N", default_value_t = PlacementPool::DEFAULT_N.get(),
          value_parser = clap::value_parser!(u32).range(1..=100_000))]
    placements: u32,
    /// Seed of the placement pool; runs with the same seed share its screens
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    placements_seed: u64,
    #[command(flatten)]
    source: SourceArgs,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: &EncodeArgs) -> Result<()> {
    let mut tasks: Vec<Task> = Vec::new();
    for task in &args.tasks {
        let task = parse_task_arg(task)?;
        if !tasks.contains(&task) {
            tasks.push(task);
        }
    }
    let Some(cache_dir) = args.source.how.cache_dir() else {
        bail!(
            "there is no cache folder to encode into: neither --cache nor TOUCHSTREAM_CACHE nor HOME is set"
        );
    };
    if let Some(file) = file_in_the_way(&cache_dir) {
        bail!("{} is a file, not a folder", file.display());
    }
    let terminal = Terminal::default();
    let encoder = args.encoder.how.open(&args.encoder.encoder, Some(&cache_dir), &terminal)?;
    let opened = args.source.how.open(&args.source.data, needs_of(&tasks), &terminal)?;
    let n = NonZeroU32::new(args.placements).unwrap_or(PlacementPool::DEFAULT_N);
    let placements = PlacementPool { n, seed: args.placements_seed };
    let splits = args.split.map_or(Split::ALL.to_vec(), |split| vec![split]);
    let screens = ScreensToEncode { tasks: &tasks, splits: &splits, placements, maps: args.maps };
    let summary = encode_screens(&screens, encoder.as_ref(), &opened, &cache_dir, &terminal)?;
    summary.notes.iter().for_each(|note| warn_user!("note: {note}"));
    if args.json {
        return print_json(&summary);
    }
    let EncodeSummary { n_screens, n_new, n_from_others, n_new_bytes, secs, .. } = summary;
    print_line!(
        "{n_screens} screens, {n_new} of them new{}",
        match n_from_others {
            0 => String::new(),
            n => format!(", {n} encoded by other processes meanwhile"),
        }
    );
    if n_new > 0 {
        let rate = summary.screens_per_sec;
        let written = DecimalBytes(n_new_bytes);
        print_line!("{rate:.1} screens per second in the encoder; {secs:.1} s in all, {written} written");
    }
    print_line!("encoder {} {}", summary.encoder, summary.encoder_hash);
    print_line!("data {} {}", summary.data.source, summary.data.content_hash);
    for CalibrationFacts { task, n_screens, norm, content_hash } in &summary.calibrations {
        print_line!("calibration of {task} on {n_screens} screens, norm {norm}: {content_hash}");
    }
    Ok(())
}
