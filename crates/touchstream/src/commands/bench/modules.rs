//! `touchstream bench modules`: training steps a second of the modules, beside PyTorch and the core's peak.

use crate::commands::bench::core_peak::peak_per_core;
use crate::commands::bench::noise_scenes::NoiseScenes;
use crate::commands::bench::peer_args::{N_ROUNDS, PeerArgs};
use crate::commands::bench::peers::Peers;
use crate::commands::bench::step_rate::StepRate;
use crate::say::say;
use crate::text_table::aligned;
use anyhow::Result;
use clap::Args;
use serde::Serialize;
use std::sync::Arc;
use touchstream_agents::{AgentSettings, Remap, Scenes, find_module};
use touchstream_env::plain_stimuli::PlainStimuli;
use touchstream_env::schedule::Schedule;
use touchstream_env::seed::RunSeed;
use touchstream_env::stimuli::Split;
use touchstream_env::stream::Stream;
use touchstream_env::task::find_task;
use touchstream_modules::module::{MODULES, Stage, Structure};

#[derive(Args)]
pub struct ModulesBenchArgs {
    /// Which modules [default: all]
    #[arg(long, value_name = "ID,...", value_delimiter = ',')]
    modules: Option<Vec<String>>,
    /// Units of every layer [default: the paper's for stimulus-response, and for match-to-sample where they differ]
    #[arg(long, value_name = "N,...", value_delimiter = ',')]
    units: Option<Vec<usize>>,
    /// Candidate touches a step
    #[arg(long, value_name = "N", default_value_t = 512)]
    candidates: usize,
    /// Steps between two updates
    #[arg(long, value_name = "N", default_value_t = 32)]
    batch: usize,
    #[command(flatten)]
    peer: PeerArgs,
}

/// One module, measured.
#[derive(Serialize)]
struct Measured {
    module: &'static str,
    units: usize,
    #[serde(flatten)]
    rate: StepRate,
    /// Multiply-adds a step over the core's peak, were candidates multiplied densely; less is done.
    dense_fraction_of_peak: Option<f64>,
    /// The same without candidates: no less is done.
    visual_fraction_of_peak: Option<f64>,
    pytorch_steps_per_sec: Option<f64>,
    times_pytorch: Option<f64>,
}

#[derive(Serialize)]
struct Outcome {
    scene_len: u64,
    candidates: usize,
    batch: usize,
    /// Fused multiply-adds a second of one core, in thousands of millions.
    peak_gmacs_per_core: Option<f64>,
    modules: Vec<Measured>,
}

/// Screens of localization.
const N_OBJECTS: usize = 500;

const SCRIPT: &str = include_str!("../../../../../peers/remap_modules.py");

pub fn run(args: &ModulesBenchArgs) -> Result<()> {
    let ids: Vec<&'static str> = match &args.modules {
        None => MODULES.iter().map(|kind| kind.id).collect(),
        Some(ids) => ids.iter().map(|id| Ok(find_module(id)?.id)).collect::<Result<_>>()?,
    };
    let mut peers = args.peer.start(SCRIPT)?;
    let peak = peak_per_core(N_ROUNDS);
    let mut modules = Vec::new();
    for id in ids {
        for units in widths(id, args.units.as_deref())? {
            modules.push(measure(args, id, units, peak, peers.as_mut())?);
        }
    }
    let outcome = Outcome {
        scene_len: args.peer.scene_len,
        candidates: args.candidates,
        batch: args.batch,
        peak_gmacs_per_core: peak,
        modules,
    };
    match args.peer.json {
        true => say!("{}", serde_json::to_string_pretty(&outcome)?),
        false => say!("{}", text(&outcome).trim_end()),
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
    mut peers: Option<&mut Peers>,
) -> Result<Measured> {
    // Convolutions are for localization, where a screen is shown for two steps; so does the peer.
    let is_convolutional = find_module(id)?.is_convolutional();
    let task = find_task(if is_convolutional { "localization" } else { "mts-2way-stationary" })?;
    let mut settings = AgentSettings::for_task(id, &task)?;
    settings.module.units.fill(units);
    (settings.n_candidates, settings.batch_steps) = (args.candidates, args.batch);
    // As many screens as the peer's, of which a trial shows one for two steps.
    let stimuli = Arc::new(PlainStimuli::new(if is_convolutional { N_OBJECTS } else { 2 }));
    let (mut stream, _) = Stream::open(Schedule::single(task), stimuli, Split::Train, RunSeed(1))?;
    let scenes = NoiseScenes::of(&stream, args.peer.scene_len as usize)?;
    let structure = settings.check(scenes.shape())?;
    let mut agent = Remap::new(settings, scenes.shape(), RunSeed(1))?;
    agent.play(&mut stream, &scenes)?;
    let (mut rate, mut best_of_peer) = (StepRate::default(), None);
    for _ in 0..N_ROUNDS {
        rate.measure_round(args.peer.secs, || {
            let before = agent.n_steps();
            agent.play(&mut stream, &scenes)?;
            Ok(agent.n_steps() - before)
        })?;
        if let Some(peers) = peers.as_deref_mut() {
            let of_peer = ask(peers, args, id, units, best_of_peer)?;
            best_of_peer = Some(best_of_peer.map_or(of_peer, |best: f64| best.max(of_peer)));
        }
    }
    let of_peak = |multiply_adds: f64| peak.map(|peak| rate.steps_per_cpu_sec * multiply_adds / 1e9 / peak);
    let visual = visual_multiply_adds(&structure);
    Ok(Measured {
        module: id,
        units,
        rate,
        dense_fraction_of_peak: of_peak(visual + candidate_multiply_adds(&structure, args.candidates)),
        visual_fraction_of_peak: of_peak(visual),
        pytorch_steps_per_sec: best_of_peer,
        times_pytorch: best_of_peer.map(|peer| rate.steps_per_sec / peer),
    })
}

fn ask(
    peers: &mut Peers,
    args: &ModulesBenchArgs,
    id: &str,
    units: usize,
    known: Option<f64>,
) -> Result<f64> {
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
    let ModulesBenchArgs { candidates, batch, peer, .. } = args;
    let scene_len = peer.scene_len;
    peer.ask(peers, *batch, known, |n_updates| {
        format!("{bottleneck}\t{layers}\t{units}\t{depth}\t{scene_len}\t{candidates}\t{batch}\t{n_updates}")
    })
}

/// Steps for which localization shows a screen.
const STEPS_PER_MAP: usize = 2;

/// Multiply-adds of a step for what is seen: forward, and its gradient.
fn visual_multiply_adds(structure: &Structure) -> f64 {
    let stages = structure.stages();
    let mut visual = 2 * stages[0].n_visual * stages[0].n_units;
    if let Some(shape) = &structure.shape().convolutions {
        let of_inputs = |stage: &Stage| shape.map.n_places * stage.n_hidden * stage.n_units;
        let (first, behind) = structure.convolutions().split_first().expect("there is a convolution");
        // Forward, and into weights: of a map once for all steps that show it.
        visual += 2 * of_inputs(first) / STEPS_PER_MAP + 2 * first.n_visual * first.n_units;
        // Into inputs, too.
        visual += behind.iter().map(|stage| 3 * of_inputs(stage)).sum::<usize>();
    }
    if let Some(flattened) = structure.flattened() {
        visual += 3 * flattened.n_flat() * flattened.n_units;
    }
    visual as f64
}

/// Multiply-adds of a step for all candidates, if every one went through all that is behind.
fn candidate_multiply_adds(structure: &Structure, n_candidates: usize) -> f64 {
    let (touch_stage, behind) = structure.stages()[structure.touch_stage()..].split_first().expect("a stage");
    let behind = behind.iter().map(|stage| stage.n_in() * stage.n_units).sum::<usize>();
    (n_candidates * (2 * touch_stage.n_units + behind)) as f64
}

fn text(outcome: &Outcome) -> String {
    let head = ["module", "units", "steps/s", "per CPU s", "of peak", "if dense", "PyTorch steps/s", "times"];
    let mut rows = vec![head.map(String::from)];
    for row in &outcome.modules {
        let perhaps = |number: Option<f64>, say: &dyn Fn(f64) -> String| number.map_or_else(String::new, say);
        rows.push([
            row.module.to_owned(),
            row.units.to_string(),
            format!("{:.0}", row.rate.steps_per_sec),
            format!("{:.0}", row.rate.steps_per_cpu_sec),
            perhaps(row.visual_fraction_of_peak, &|fraction| format!("{:.0} %", 100.0 * fraction)),
            perhaps(row.dense_fraction_of_peak, &|fraction| format!("{:.0} %", 100.0 * fraction)),
            perhaps(row.pytorch_steps_per_sec, &|rate| format!("{rate:.0}")),
            perhaps(row.times_pytorch, &|times| format!("{times:.1}")),
        ]);
    }
    let Outcome { scene_len, candidates, batch, peak_gmacs_per_core, .. } = outcome;
    let mut text = aligned(&rows);
    text.push_str(&format!(
        "\none thread; {} inputs, {candidates} candidates a step, an update every {batch} steps",
        2 * scene_len
    ));
    if let Some(peak) = peak_gmacs_per_core {
        text.push_str(&format!("; peak {peak:.1} billion multiply-adds a second. Of peak: dense products for what \
             screens need, without candidates. If dense: with dense products for every candidate, too. Less than that is done: polynomials of the touch \
             save some, and zeros behind rectified units."));
    }
    text
}
