//! `touchstream bench modules`: training steps per second of the modules, next to JAX, PyTorch and the core's peak.

use crate::commands::bench::compare::{Rates, compare_rates};
use crate::commands::bench::learning::{LearningArgs, Measured, N_ROUNDS, PeerScript, peer_script};
use crate::commands::bench::peers::Peers;
use crate::stdio::{print_json, print_line};
use crate::text_table::aligned;
use anyhow::Result;
use clap::Args;
use serde::Serialize;
use std::sync::Arc;
use touchstream_agents::{AgentSettings, FeatureSource, Remap, find_module};
use touchstream_env::plain_stimuli::PlainStimuli;
use touchstream_env::schedule::Schedule;
use touchstream_env::seed::RunSeed;
use touchstream_env::stimuli::Split;
use touchstream_env::stream::Stream;
use touchstream_env::task::find_task;
use touchstream_experiment::bench::{NoiseScenes, Processor};
use touchstream_modules::module::{MODULES, Stage, Structure};

#[derive(Args)]
pub struct ModulesBenchArgs {
    /// Modules [default: all]
    #[arg(long, value_name = "ID,...", value_delimiter = ',')]
    modules: Option<Vec<String>>,
    /// Units of every layer [default: the paper's widths for stimulus-response and match-to-sample]
    #[arg(long, value_name = "N,...", value_delimiter = ',')]
    units: Option<Vec<usize>>,
    /// Candidate touches per step
    #[arg(long, value_name = "N", default_value_t = 512)]
    candidates: usize,
    /// Steps per update
    #[arg(long, value_name = "N", default_value_t = 32)]
    batch: usize,
    #[command(flatten)]
    learning: LearningArgs,
}

#[derive(Serialize)]
struct Row {
    module: &'static str,
    units: usize,
    #[serde(flatten)]
    measured: Measured,
    /// Multiply-adds of the touch-independent part, over the core's peak.
    visual_fraction_of_peak: Option<f64>,
}

#[derive(Serialize)]
struct Outcome {
    #[serde(flatten)]
    processor: Processor,
    scene_len: u64,
    candidates: usize,
    batch: usize,
    modules: Vec<Row>,
}

const RATES: Rates =
    Rates { rows: "modules", keys: &["module", "units"], rates: &["steps_per_cpu_sec", "steps_per_sec"] };

/// As many screens as the peers have.
const N_OBJECTS: usize = 500;

const SCRIPTS: [PeerScript; 2] = [
    PeerScript { package: "torch", script: peer_script!("remap_modules.py") },
    PeerScript { package: "jax", script: peer_script!("jax_training.py", "remap_modules_jax.py") },
];

pub fn run(args: &ModulesBenchArgs) -> Result<()> {
    if let Some(old) = &args.learning.compare.compare {
        return compare_rates(old, args.learning.compare.pairs, args.learning.json, &RATES);
    }
    let ids: Vec<&'static str> = match &args.modules {
        None => MODULES.iter().map(|kind| kind.id).collect(),
        Some(ids) => ids.iter().map(|id| Ok(find_module(id)?.id)).collect::<Result<_>>()?,
    };
    let mut peers = args.learning.start_peers(&SCRIPTS)?;
    let processor = Processor::measure(N_ROUNDS);
    let mut modules = Vec::new();
    for id in ids {
        for units in widths(id, args.units.as_deref())? {
            modules.push(measure(args, id, units, processor.peak_gmacs_per_core, &mut peers)?);
        }
    }
    let (scene_len, candidates, batch) = (args.learning.scene_len, args.candidates, args.batch);
    let outcome = Outcome { processor, scene_len, candidates, batch, modules };
    match args.learning.json {
        true => print_json(&outcome)?,
        false => print_line!("{}", text(&outcome).trim_end()),
    }
    Ok(())
}

fn widths(id: &str, chosen: Option<&[usize]>) -> Result<Vec<usize>> {
    if let Some(units) = chosen {
        return Ok(units.to_vec());
    }
    let kind = find_module(id)?;
    let of = |task: &str| -> Result<usize> {
        Ok(touchstream_agents::paper::units(find_task(task)?.paradigm(), kind))
    };
    let mut widths = vec![of("sr-2way")?, of("mts-2way-stationary")?];
    widths.dedup();
    Ok(widths)
}

fn measure(
    args: &ModulesBenchArgs,
    id: &'static str,
    units: usize,
    peak: Option<f64>,
    peers: &mut [Peers],
) -> Result<Row> {
    // Convolutions are for localization, where a screen is shown for two steps; the peers show it twice, too.
    let is_convolutional = find_module(id)?.is_convolutional();
    let task = find_task(if is_convolutional { "localization" } else { "mts-2way-stationary" })?;
    let mut settings = AgentSettings::for_task(id, &task)?;
    settings.module.units.fill(units);
    (settings.n_candidates, settings.batch_steps) = (args.candidates, args.batch);
    let stimuli = Arc::new(PlainStimuli::new(if is_convolutional { N_OBJECTS } else { 2 }));
    let (mut stream, _) = Stream::open(Schedule::single(task), stimuli, Split::Train, RunSeed(1))?;
    let scenes = NoiseScenes::of(&stream, args.learning.scene_len as usize)?;
    let structure = settings.check(scenes.shape())?;
    let mut agent = Remap::new(settings, scenes.shape(), RunSeed(1))?;
    let fields = peer_fields(args, id, units)?;
    let measured = args.learning.measure(&mut agent, &mut stream, &scenes, peers, &fields)?;
    let gmacs = measured.rate.steps_per_cpu_sec * visual_multiply_adds(&structure) / 1e9;
    Ok(Row { module: id, units, measured, visual_fraction_of_peak: peak.map(|peak| gmacs / peak) })
}

/// The setting, as the peers' scripts read it.
fn peer_fields(args: &ModulesBenchArgs, id: &str, units: usize) -> Result<String> {
    let kind = find_module(id)?;
    let bottleneck = match (kind.is_convolutional(), kind.bottleneck) {
        (true, _) => {
            let names: Vec<_> = kind.convolutions.iter().map(|nonlinearity| nonlinearity.name()).collect();
            format!("conv {}", names.join(","))
        }
        (false, Some(nonlinearity)) => nonlinearity.name().into(),
        (false, None) => "-".into(),
    };
    let (layers, depth) = (kind.layers.name(), kind.default_depth());
    let ModulesBenchArgs { candidates, batch, learning: LearningArgs { scene_len, .. }, .. } = args;
    Ok(format!("{bottleneck}\t{layers}\t{units}\t{depth}\t{scene_len}\t{candidates}\t{batch}"))
}

/// Steps for which localization shows a screen.
const STEPS_PER_MAP: usize = 2;

/// Multiply-adds per step of the touch-independent part: forward, and its gradient.
fn visual_multiply_adds(structure: &Structure) -> f64 {
    let stages = structure.stages();
    let mut visual = 2 * stages[0].n_visual * stages[0].n_units;
    if let Some(shape) = &structure.shape().convolutions {
        let of_inputs = |stage: &Stage| shape.map.n_places * stage.n_hidden * stage.n_units;
        let (first, later) = structure.convolutions().split_first().expect("there is a convolution");
        // Forward and weight gradient, of a map once for all steps that show it.
        visual += 2 * of_inputs(first) / STEPS_PER_MAP + 2 * first.n_visual * first.n_units;
        // And input gradient.
        visual += later.iter().map(|stage| 3 * of_inputs(stage)).sum::<usize>();
    }
    if let Some(flattened) = structure.flattened() {
        visual += 3 * flattened.n_flat() * flattened.n_units;
    }
    visual as f64
}

fn text(outcome: &Outcome) -> String {
    let mut head = ["module", "units"].map(String::from).to_vec();
    head.extend(outcome.modules[0].measured.headings());
    head.push("of peak".into());
    let mut table = vec![head];
    for Row { module, units, measured, visual_fraction_of_peak: fraction } in &outcome.modules {
        let mut cells = vec![(*module).to_owned(), units.to_string()];
        cells.extend(measured.cells());
        cells.push(fraction.map_or_else(String::new, |it| format!("{:.0} %", 100.0 * it)));
        table.push(cells);
    }
    let Outcome { processor, scene_len, candidates, batch, .. } = outcome;
    let mut text = format!(
        "{}\none thread; {} inputs, {candidates} candidates per step, an update every {batch} steps; {}",
        aligned(&table),
        2 * scene_len,
        processor.name
    );
    if let Some(peak) = processor.peak_gmacs_per_core {
        text.push_str(&format!(
            "\npeak: {peak:.1} billion multiply-adds per second; of peak: those of the touch-independent part alone"
        ));
    }
    text
}
