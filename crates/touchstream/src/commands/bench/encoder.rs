//! `touchstream bench encoder`: screens per second, ratios to peers, and the fraction of the cores' peak.

use crate::commands::bench::compare::{CompareArgs, Rates, compare_rates};
use crate::commands::bench::peers::Peers;
use crate::settings_args::CacheArg;
use crate::stdio::{print_json, print_line, warn_user};
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
use touchstream_experiment::bench::Processor;
use touchstream_experiment::config::EncoderOptions;
use touchstream_experiment::study::process_cpu_time;

#[derive(Args)]
pub struct EncoderBenchArgs {
    /// Weights of vgg16: safetensors with torchvision's names [default: the installed weights]
    #[arg(long, value_name = "FILE")]
    weights: Option<PathBuf>,
    /// Numbers of threads
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_value = "1,2")]
    threads: Vec<usize>,
    /// Batch sizes: numbers of screens encoded at once
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_value = "1,8")]
    batch: Vec<usize>,
    /// Runs of each, in turn; the fastest is reported, because other work on the machine only slows runs down
    #[arg(long, value_name = "N", default_value_t = 5)]
    rounds: usize,
    /// A Python with torch, onnxruntime, onnx, numpy and safetensors: VGG-16's convolutions are then measured there,
    /// too (`scripts/python-env --peers` installs them into .venv)
    #[arg(long, value_name = "FILE")]
    python: Option<PathBuf>,
    #[command(flatten)]
    cache: CacheArg,
    #[command(flatten)]
    compare: CompareArgs,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Row {
    /// `compact`, `vgg16`, `vgg16 convolutions`, or the convolutions of a peer.
    what: String,
    n_threads: usize,
    batch_size: usize,
    n_runs: usize,
    /// Fastest run.
    screens_per_sec: f64,
    median_screens_per_sec: f64,
    /// Per second of CPU time of all threads, of the fastest run.
    screens_per_cpu_sec: f64,
    /// Multiply-adds of direct convolution, over the peak of `n_threads` cores.
    fraction_of_peak: Option<f64>,
    /// Our convolutions over the fastest peer's, by CPU time.
    times_fastest_peer: Option<f64>,
}

#[derive(Serialize)]
struct Outcome {
    #[serde(flatten)]
    processor: Processor,
    measured: Vec<Row>,
}

const RATES: Rates = Rates {
    rows: "measured",
    keys: &["what", "n_threads", "batch_size"],
    rates: &["screens_per_cpu_sec", "screens_per_sec"],
};

/// The largest values of options.
struct Limits {
    rounds: usize,
    threads: usize,
    batch: usize,
}

const LIMITS: Limits = Limits { rounds: 1000, threads: 1024, batch: 1024 };
const SCRIPT: &str = include_str!("../../../../../peers/vgg16_convolutions.py");
const OUR_CONVOLUTIONS: &str = "vgg16 convolutions";
const PEERS: &str = "vgg16 convolutions, ";

pub fn run(args: &EncoderBenchArgs) -> Result<()> {
    if let Some(old) = &args.compare.compare {
        return compare_rates(old, args.compare.pairs, args.json, &RATES);
    }
    let Limits { rounds, threads, batch } = LIMITS;
    for (name, values, max) in [
        ("rounds", &[args.rounds][..], rounds),
        ("threads", &args.threads, threads),
        ("batch", &args.batch, batch),
    ] {
        if let Some(n) = values.iter().find(|n| !(1..=max).contains(*n)) {
            bail!("{name}: {n} is not in 1..={max}");
        }
    }
    let options = EncoderOptions { weights: args.weights.clone(), ..EncoderOptions::default() };
    let cache_dir = args.cache.folder();
    let compact = EncoderOptions::default().open(&EncoderSpec::Compact, None, &Unwatched)?;
    let (vgg16, mut peers) = match options.vgg16_file(cache_dir.as_deref()) {
        Ok(file) => {
            let vgg16 = Vgg16::new(options.read_vgg16(cache_dir.as_deref())?);
            let start = |python| Peers::start(python, SCRIPT, &[&file], &[]);
            (Some(vgg16), args.python.as_deref().map(start).transpose()?)
        }
        Err(error) if args.weights.is_none() && args.python.is_none() => {
            warn_user!("without vgg16: {error}");
            (None, None)
        }
        Err(error) => return Err(error.into()),
    };
    let processor = Processor::measure(args.rounds);
    let mut measured = Vec::new();
    for &n_threads in &args.threads {
        let pool = ThreadPoolBuilder::new().num_threads(n_threads).build()?;
        for &batch_size in &args.batch {
            let bench = Bench {
                pool: &pool,
                n_threads,
                batch_size,
                rounds: args.rounds,
                peak: processor.peak_gmacs_per_core,
            };
            bench.measure(compact.as_ref(), vgg16.as_ref(), peers.as_mut(), &mut measured)?;
        }
    }
    let outcome = Outcome { processor, measured };
    match args.json {
        true => print_json(&outcome)?,
        false => print_line!("{}", text(&outcome)),
    }
    Ok(())
}

/// One setting. All encoders and peers run in turn, so that a busy minute slows all of them alike.
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
        measured: &mut Vec<Row>,
    ) -> Result<()> {
        let screens: Vec<Screen> = (0..self.batch_size).map(noisy_screen).collect();
        let mut runs: Vec<(String, Vec<Run>)> = Vec::new();
        for round in 0..=self.rounds {
            // The first round only warms up: memory is allocated, files are read.
            let mut record = |what: &str, run: Run| match runs.iter_mut().find(|(known, _)| known == what) {
                _ if round == 0 => {}
                Some((_, all)) => all.push(run),
                None => runs.push((what.to_owned(), vec![run])),
            };
            record(compact.name(), self.encode(compact, &screens)?);
            let Some(vgg16) = vgg16 else { continue };
            record(vgg16.name(), self.encode(vgg16, &screens)?);
            record(OUR_CONVOLUTIONS, self.timed(|| drop(vgg16.pool5(&screens))));
            let Some(peers) = peers.as_deref_mut() else { continue };
            for peer in peers.names.clone() {
                let answer = peers.ask(&format!("{peer}\t{}\t{}", self.n_threads, self.batch_size))?;
                let [secs, cpu_secs] = answer[..] else { bail!("{peer} did not answer with two times") };
                record(&format!("{PEERS}{peer}"), Run { secs, cpu_secs });
            }
        }
        let mut rows: Vec<Row> = runs.into_iter().map(|(what, runs)| self.row(what, &runs)).collect();
        let peers = rows.iter().filter(|row| row.what.starts_with(PEERS)).map(|row| row.screens_per_cpu_sec);
        let fastest = peers.reduce(f64::max);
        for row in rows.iter_mut().filter(|row| row.what == OUR_CONVOLUTIONS) {
            row.times_fastest_peer = fastest.map(|fastest| row.screens_per_cpu_sec / fastest);
        }
        measured.extend(rows);
        Ok(())
    }

    fn encode(&self, encoder: &dyn Encoder, screens: &[Screen]) -> Result<Run> {
        let mut features = vec![Features::zeros(encoder.shape()); screens.len()];
        let mut outcome = Ok(());
        let run = self.timed(|| outcome = encoder.encode(screens, &mut features));
        outcome?;
        Ok(run)
    }

    fn timed(&self, work: impl FnOnce() + Send) -> Run {
        self.pool.install(|| {
            let (start, cpu_start) = (Instant::now(), process_cpu_time());
            work();
            let cpu_secs = (process_cpu_time() - cpu_start).as_secs_f64();
            Run { secs: start.elapsed().as_secs_f64(), cpu_secs }
        })
    }

    fn row(&self, what: String, runs: &[Run]) -> Row {
        let sorted = |time: fn(&Run) -> f64| {
            let mut times: Vec<f64> = runs.iter().map(time).collect();
            times.sort_by(f64::total_cmp);
            times
        };
        let (secs, cpu_secs) = (sorted(|run| run.secs), sorted(|run| run.cpu_secs));
        let per_sec = |secs: f64| self.batch_size as f64 / secs;
        let screens_per_sec = per_sec(secs[0]);
        let peak = self.peak.filter(|_| what.starts_with(OUR_CONVOLUTIONS));
        Row {
            n_threads: self.n_threads,
            batch_size: self.batch_size,
            n_runs: secs.len(),
            screens_per_sec,
            median_screens_per_sec: per_sec(secs[secs.len() / 2]),
            screens_per_cpu_sec: per_sec(cpu_secs[0]),
            fraction_of_peak: peak.map(|peak| {
                let gmacs = screens_per_sec * CONVOLUTION_MULTIPLY_ADDS as f64 / 1e9;
                gmacs / (peak * self.n_threads as f64)
            }),
            times_fastest_peer: None,
            what,
        }
    }
}

/// Times of one run; CPU time of all threads.
struct Run {
    secs: f64,
    cpu_secs: f64,
}

/// The time of encoding does not depend on the pixels.
fn noisy_screen(seed: usize) -> Screen {
    let mut screen = Screen::grey();
    for (at, byte) in screen.pixels_mut().iter_mut().enumerate() {
        *byte = ((at + seed * 7919).wrapping_mul(2_654_435_761) >> 16) as u8;
    }
    screen
}

fn text(outcome: &Outcome) -> String {
    let head = ["encoder", "threads", "batch", "screens/s", "median", "per CPU s", "of peak", "times a peer"];
    let mut rows = vec![head.map(String::from)];
    for row in &outcome.measured {
        rows.push([
            row.what.clone(),
            row.n_threads.to_string(),
            row.batch_size.to_string(),
            format!("{:.1}", row.screens_per_sec),
            format!("{:.1}", row.median_screens_per_sec),
            format!("{:.1}", row.screens_per_cpu_sec),
            row.fraction_of_peak.map_or_else(String::new, |fraction| format!("{:.0} %", 100.0 * fraction)),
            row.times_fastest_peer.map_or_else(String::new, |times| format!("{times:.1}")),
        ]);
    }
    let mut text = format!("{}\n{}", aligned(&rows), outcome.processor.name);
    if let Some(peak) = outcome.processor.peak_gmacs_per_core {
        text.push_str(&format!(
            "\npeak: {peak:.1} billion multiply-adds per second and core; of peak: counted as direct convolution, {:.1} \
             billion per screen, so Winograd's can exceed 100 %; times a peer: the fastest",
            CONVOLUTION_MULTIPLY_ADDS as f64 / 1e9
        ));
    }
    text
}
