//! `touchstream bench encoder`: screens a second, ratios to peers, and the fraction of the cores' peak.

use crate::commands::bench::core_peak::peak_per_core;
use crate::commands::bench::peers::Peers;
use crate::say::{say, warn_user};
use crate::text_table::aligned;
use anyhow::{Result, bail};
use clap::Args;
use rayon::{ThreadPool, ThreadPoolBuilder};
use serde::Serialize;
use std::path::PathBuf;
use std::time::Instant;
use touchstream_encoder::vgg16::{CONVOLUTION_MULTIPLY_ADDS, Vgg16};
use touchstream_encoder::{Encoder, EncoderSpec, Features};
use touchstream_env::screen::Screen;
use touchstream_experiment::Unwatched;
use touchstream_experiment::config::EncoderOptions;
use touchstream_experiment::config::default_cache_dir;

#[derive(Args)]
pub struct EncoderBenchArgs {
    /// Weights for vgg16: safetensors with torchvision's names [default: those that were installed]
    #[arg(long, value_name = "FILE")]
    weights: Option<PathBuf>,
    /// Numbers of threads to measure with
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_value = "1,2")]
    threads: Vec<usize>,
    /// Numbers of screens encoded at once to measure with
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_value = "1,8")]
    batch: Vec<usize>,
    /// How often each is run in turn; the fastest run counts, as other work on the machine can only slow it down
    #[arg(long, value_name = "N", default_value_t = 5)]
    rounds: usize,
    /// A Python with torch, onnxruntime, onnx, numpy and safetensors: VGG-16's convolutions are then measured there
    /// too (`scripts/python-env --peers` makes one)
    #[arg(long, value_name = "FILE")]
    python: Option<PathBuf>,
    /// Folder with the installed weights [default: $TOUCHSTREAM_CACHE, else the user's cache]
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

/// One thing measured in one setting.
#[derive(Serialize)]
struct Measured {
    /// `compact`, `vgg16`, `vgg16 convolutions`, or the latter of a peer.
    what: String,
    n_threads: usize,
    batch_size: usize,
    n_runs: usize,
    /// Of the fastest run.
    screens_per_sec: f64,
    /// Of the run in the middle.
    median_screens_per_sec: f64,
    /// Multiply-adds that direct convolution would take, over the peak of as many cores as there were threads.
    fraction_of_peak: Option<f64>,
}

#[derive(Serialize)]
struct Outcome {
    /// Fused multiply-adds a second of one core, in thousands of millions.
    peak_gmacs_per_core: Option<f64>,
    measured: Vec<Measured>,
    ratios: Vec<Ratio>,
}

#[derive(Serialize)]
struct Ratio {
    what: String,
    n_threads: usize,
    batch_size: usize,
    ratio: f64,
}

const SCRIPT: &str = include_str!("../../../../../peers/vgg16_convolutions.py");
const OUR_CONVOLUTIONS: &str = "vgg16 convolutions";

pub fn run(args: &EncoderBenchArgs) -> Result<()> {
    if args.rounds == 0 || args.threads.contains(&0) || args.batch.contains(&0) {
        bail!("--rounds, --threads and --batch count from 1");
    }
    let options = EncoderOptions { weights: args.weights.clone(), ..EncoderOptions::default() };
    let cache_dir = args.cache.clone().or_else(default_cache_dir);
    let compact = EncoderOptions::default().open(&EncoderSpec::Compact, None, &Unwatched)?;
    let (vgg16, mut peers) = match options.vgg16_file(cache_dir.as_deref()) {
        Ok(file) => {
            let vgg16 = Vgg16::new(options.read_vgg16(cache_dir.as_deref())?);
            (
                Some(vgg16),
                args.python.as_ref().map(|python| Peers::start(python, SCRIPT, &[&file])).transpose()?,
            )
        }
        Err(error) if args.weights.is_none() && args.python.is_none() => {
            warn_user!("without vgg16: {error}");
            (None, None)
        }
        Err(error) => return Err(error.into()),
    };
    let peak = peak_per_core(args.rounds);
    let mut measured = Vec::new();
    for &n_threads in &args.threads {
        let pool = ThreadPoolBuilder::new().num_threads(n_threads).build()?;
        for &batch_size in &args.batch {
            let bench = Bench { pool: &pool, n_threads, batch_size, rounds: args.rounds, peak };
            bench.measure(compact.as_ref(), vgg16.as_ref(), peers.as_mut(), &mut measured)?;
        }
    }
    let outcome = Outcome { peak_gmacs_per_core: peak, ratios: ratios(&measured), measured };
    match args.json {
        true => say!("{}", serde_json::to_string_pretty(&outcome)?),
        false => say!("{}", text(&outcome)),
    }
    Ok(())
}

/// One setting, in which everything takes its turn, so that a noisy minute slows all alike.
struct Bench<'a> {
    pool: &'a ThreadPool,
    n_threads: usize,
    batch_size: usize,
    rounds: usize,
    peak: Option<f64>,
}

impl Bench<'_> {
    fn measure(
        &self,
        compact: &dyn Encoder,
        vgg16: Option<&Vgg16>,
        mut peers: Option<&mut Peers>,
        measured: &mut Vec<Measured>,
    ) -> Result<()> {
        let screens: Vec<Screen> = (0..self.batch_size).map(noisy_screen).collect();
        let mut runs: Vec<(String, Vec<f64>)> = Vec::new();
        let mut note = |what: &str, secs: f64| match runs.iter_mut().find(|(known, _)| known == what) {
            Some((_, all)) => all.push(secs),
            None => runs.push((what.to_owned(), vec![secs])),
        };
        for round in 0..=self.rounds {
            // The first round only warms up: memory is taken, files are read.
            let mut note = |what: &str, secs: f64| {
                if round > 0 {
                    note(what, secs)
                }
            };
            note(compact.name(), self.encode(compact, &screens)?);
            let Some(vgg16) = vgg16 else { continue };
            note(vgg16.name(), self.encode(vgg16, &screens)?);
            note(OUR_CONVOLUTIONS, self.timed(|| drop(vgg16.pool5(&screens))));
            let Some(peers) = peers.as_deref_mut() else { continue };
            for peer in peers.names.clone() {
                let secs = peers.ask(&format!("{peer}\t{}\t{}\t1", self.n_threads, self.batch_size))?;
                secs.iter().for_each(|&secs| note(&format!("{OUR_CONVOLUTIONS}, {peer}"), secs));
            }
        }
        measured.extend(runs.into_iter().map(|(what, secs)| self.measured(what, secs)));
        Ok(())
    }

    fn encode(&self, encoder: &dyn Encoder, screens: &[Screen]) -> Result<f64> {
        let mut features = vec![Features::zeros(encoder.shape()); screens.len()];
        let mut outcome = Ok(());
        let secs = self.timed(|| outcome = encoder.encode(screens, &mut features));
        outcome?;
        Ok(secs)
    }

    fn timed(&self, work: impl FnOnce() + Send) -> f64 {
        self.pool.install(|| {
            let start = Instant::now();
            work();
            start.elapsed().as_secs_f64()
        })
    }

    fn measured(&self, what: String, mut secs: Vec<f64>) -> Measured {
        secs.sort_by(f64::total_cmp);
        let per_sec = |secs: f64| self.batch_size as f64 / secs;
        let screens_per_sec = per_sec(secs[0]);
        let peak = self.peak.filter(|_| what.starts_with(OUR_CONVOLUTIONS));
        Measured {
            n_threads: self.n_threads,
            batch_size: self.batch_size,
            n_runs: secs.len(),
            screens_per_sec,
            median_screens_per_sec: per_sec(secs[secs.len() / 2]),
            fraction_of_peak: peak.map(|peak| {
                let gmacs = screens_per_sec * CONVOLUTION_MULTIPLY_ADDS as f64 / 1e9;
                gmacs / (peak * self.n_threads as f64)
            }),
            what,
        }
    }
}

/// A screen of noise; how long encoding takes does not depend on what is seen.
fn noisy_screen(seed: usize) -> Screen {
    let mut screen = Screen::grey();
    for (at, byte) in screen.pixels_mut().iter_mut().enumerate() {
        *byte = ((at + seed * 7919).wrapping_mul(2_654_435_761) >> 16) as u8;
    }
    screen
}

/// Our convolutions over the faster peer's, and compact over VGG-16, in each setting.
fn ratios(measured: &[Measured]) -> Vec<Ratio> {
    let mut ratios = Vec::new();
    for ours in measured {
        let beside = |other: &&Measured| {
            (other.n_threads, other.batch_size) == (ours.n_threads, ours.batch_size)
                && other.what != ours.what
        };
        let rivals: Vec<&Measured> = match ours.what.as_str() {
            OUR_CONVOLUTIONS => measured
                .iter()
                .filter(beside)
                .filter(|other| other.what.starts_with(OUR_CONVOLUTIONS))
                .collect(),
            "compact" => measured.iter().filter(beside).filter(|other| other.what == "vgg16").collect(),
            _ => continue,
        };
        let fastest = rivals.into_iter().max_by(|a, b| a.screens_per_sec.total_cmp(&b.screens_per_sec));
        if let Some(rival) = fastest {
            ratios.push(Ratio {
                what: format!("{} / {}", ours.what, rival.what),
                n_threads: ours.n_threads,
                batch_size: ours.batch_size,
                ratio: ours.screens_per_sec / rival.screens_per_sec,
            });
        }
    }
    ratios
}

fn text(outcome: &Outcome) -> String {
    let mut rows = vec![["encoder", "threads", "batch", "screens/s", "median", "of peak"].map(String::from)];
    for row in &outcome.measured {
        rows.push([
            row.what.clone(),
            row.n_threads.to_string(),
            row.batch_size.to_string(),
            format!("{:.1}", row.screens_per_sec),
            format!("{:.1}", row.median_screens_per_sec),
            row.fraction_of_peak.map_or_else(String::new, |fraction| format!("{:.0} %", 100.0 * fraction)),
        ]);
    }
    let mut text = aligned(&rows);
    if let Some(peak) = outcome.peak_gmacs_per_core {
        text.push_str(&format!(
            "\npeak: {peak:.1} thousand million multiply-adds a second and core; of peak counts a convolution as the \
             sum it stands for ({:.1} thousand million a screen), so Winograd's can pass 100 %\n",
            CONVOLUTION_MULTIPLY_ADDS as f64 / 1e9
        ));
    }
    for Ratio { what, n_threads, batch_size, ratio } in &outcome.ratios {
        text.push_str(&format!("\n{what}: {ratio:.1} times ({n_threads} threads, batch {batch_size})"));
    }
    text
}
