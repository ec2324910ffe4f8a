//! `touchstream encode`: encodes the screens of tasks into the cache that all runs share.

use crate::settings_args::EncoderArgs;
use crate::settings_args::SourceArgs;
use crate::settings_args::choice;
use crate::stdio::{print_line, warn_user};
use crate::terminal::Terminal;
use anyhow::{Result, bail};
use clap::Args;
use indicatif::DecimalBytes;
use serde::Serialize;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Instant;
use touchstream_env::stimuli::Split;
use touchstream_env::task::Task;
use touchstream_env::trial::{BoundTask, PlacementChoice, PlacementPool};
use touchstream_experiment::TimedEncoder;
use touchstream_experiment::config::DataFacts;
use touchstream_experiment::config::{needs_of, parse_task_arg};
use touchstream_features::{
    Calibrated, CalibrationSettings, EncodeContext, Encoded, Wanted, calibrate_tasks, encode_tasks,
};
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

#[derive(Serialize)]
struct EncodeSummary {
    data: DataFacts,
    encoder: String,
    encoder_hash: String,
    tasks: Vec<String>,
    placements: u32,
    placements_seed: u64,
    maps: bool,
    n_screens: usize,
    n_new: usize,
    n_from_others: usize,
    n_new_bytes: u64,
    /// Wall clock, with drawing, storing and waiting for other processes.
    secs: f64,
    encoding_secs: f64,
    /// New screens per second in the encoder.
    screens_per_sec: f64,
    calibrations: Vec<CalibrationFacts>,
    notes: Vec<String>,
}

/// Centring and scaling of a task's scene vectors.
#[derive(Serialize)]
struct CalibrationFacts {
    task: String,
    n_screens: usize,
    norm: f32,
    content_hash: String,
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
    let placements = PlacementChoice::Pool(PlacementPool { n, seed: args.placements_seed });
    let splits = args.split.map_or(Split::ALL.to_vec(), |split| vec![split]);
    let mut bound = Vec::new();
    for task in &tasks {
        for &split in &splits {
            let (task, stimuli) = (task.clone(), Arc::clone(&opened.stimuli));
            bound.push(BoundTask::with_placements(task, stimuli, split, placements)?);
        }
    }
    if args.maps && encoder.shape().map_channels == 0 {
        bail!("--maps: `{}` has no spatial map; choose a node with --map NODE", encoder.name());
    }
    let wanted = if args.maps { Wanted::SceneAndMap } else { Wanted::Scene };
    let progress = touchstream_experiment::WorkProgress(&terminal);
    let timed = TimedEncoder::new(encoder.as_ref());
    let eyes = EncodeContext { encoder: &timed, cache_dir: Some(&cache_dir), progress: &progress };
    let started = Instant::now();
    let encoded = encode_tasks(eyes, &bound.iter().collect::<Vec<_>>(), wanted)?;
    let secs = started.elapsed().as_secs_f64();
    let encoding_secs = timed.spent().as_secs_f64();
    let Encoded { n_screens, n_new, n_from_others, n_new_bytes, encoder_hash, mut notes, .. } = encoded;
    let mut calibrations = Vec::new();
    for task in bound.iter().filter(|task| task.split() == Split::Train) {
        let Calibrated { calibration, notes: more } =
            calibrate_tasks(eyes, &[task], CalibrationSettings::default())?;
        calibrations.push(CalibrationFacts {
            task: task.task().id().to_owned(),
            n_screens: calibration.n_screens(),
            norm: calibration.norm(),
            content_hash: calibration.content_hash().to_string(),
        });
        for note in more {
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
    }
    notes.iter().for_each(|note| warn_user!("note: {note}"));
    let summary = EncodeSummary {
        data: DataFacts::of(&opened.manifest),
        encoder: encoder.name().to_owned(),
        encoder_hash: encoder_hash.to_string(),
        tasks: tasks.iter().map(|task| task.id().to_owned()).collect(),
        placements: args.placements,
        placements_seed: args.placements_seed,
        maps: args.maps,
        n_screens,
        n_new,
        n_from_others,
        n_new_bytes,
        secs,
        encoding_secs,
        screens_per_sec: if n_new > 0 { n_new as f64 / encoding_secs } else { 0.0 },
        calibrations,
        notes,
    };
    if args.json {
        print_line!("{}", serde_json::to_string_pretty(&summary)?);
        return Ok(());
    }
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
