//! `touchstream bench voting`: training steps per second with frozen modules, next to JAX and PyTorch.

use crate::commands::bench::compare::{Rates, compare_rates};
use crate::commands::bench::learning::{LearningArgs, Measured, N_ROUNDS, PeerScript, peer_script};
use crate::commands::bench::peers::Peers;
use crate::settings_args::choice;
use crate::stdio::{print_json, print_line};
use crate::text_table::aligned;
use anyhow::{Result, bail};
use clap::Args;
use serde::Serialize;
use std::sync::Arc;
use touchstream_agents::{AgentSettings, FeatureSource, Remap};
use touchstream_env::plain_stimuli::PlainStimuli;
use touchstream_env::schedule::Schedule;
use touchstream_env::seed::RunSeed;
use touchstream_env::stimuli::Split;
use touchstream_env::stream::Stream;
use touchstream_env::task::find_task;
use touchstream_experiment::bench::{NoiseScenes, Processor};
use touchstream_experiment::config::{Preset, voting_settings};
use touchstream_modules::composite::Voting;

#[derive(Args)]
pub struct VotingBenchArgs {
    /// Numbers of frozen modules
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_value = "0,1,2,4,8,16")]
    old: Vec<usize>,
    /// Units of every layer
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_value = "8,32")]
    units: Vec<usize>,
    /// Layer or unit voting; the peers always vote on layers
    #[arg(long, value_parser = choice::<Voting>(), value_name = "HOW", default_value = "layer")]
    voting: Voting,
    /// Candidate touches per step
    #[arg(long, value_name = "N", default_value_t = 256)]
    candidates: usize,
    /// Steps per update
    #[arg(long, value_name = "N", default_value_t = 8)]
    batch: usize,
    #[command(flatten)]
    learning: LearningArgs,
}

#[derive(Serialize)]
struct Row {
    units: usize,
    old: usize,
    #[serde(flatten)]
    measured: Measured,
}

#[derive(Serialize)]
struct Outcome {
    #[serde(flatten)]
    processor: Processor,
    scene_len: u64,
    candidates: usize,
    batch: usize,
    voting: Vec<Row>,
}

const RATES: Rates =
    Rates { rows: "voting", keys: &["units", "old"], rates: &["steps_per_cpu_sec", "steps_per_sec"] };

const MAX_OLD: usize = 64;
const SCRIPTS: [PeerScript; 2] = [
    PeerScript { package: "torch", script: peer_script!("remap_voting.py") },
    PeerScript { package: "jax", script: peer_script!("jax_training.py", "remap_voting_jax.py") },
];

pub fn run(args: &VotingBenchArgs) -> Result<()> {
    if let Some(old) = &args.learning.compare.compare {
        return compare_rates(old, args.learning.compare.pairs, args.learning.json, &RATES);
    }
    if let Some(n) = args.old.iter().find(|&&n| n > MAX_OLD) {
        bail!("old: {n} is more than {MAX_OLD}");
    }
    let mut peers = args.learning.start_peers(&SCRIPTS)?;
    let processor = Processor::measure(N_ROUNDS);
    let mut voting = Vec::new();
    for &units in &args.units {
        for &old in &args.old {
            voting.push(measure(args, units, old, &mut peers)?);
        }
    }
    let (scene_len, candidates, batch) = (args.learning.scene_len, args.candidates, args.batch);
    let outcome = Outcome { processor, scene_len, candidates, batch, voting };
    match args.learning.json {
        true => print_json(&outcome)?,
        false => print_line!("{}", text(&outcome).trim_end()),
    }
    Ok(())
}

fn measure(args: &VotingBenchArgs, units: usize, old: usize, peers: &mut [Peers]) -> Result<Row> {
    let task = find_task("mts-2way-stationary")?;
    let mut settings = AgentSettings::for_task("ems", &task)?;
    settings.module.units.fill(units);
    (settings.n_candidates, settings.batch_steps) = (args.candidates, args.batch);
    let stimuli = Arc::new(PlainStimuli::new(2));
    let (mut stream, _) = Stream::open(Schedule::single(task), stimuli, Split::Train, RunSeed(1))?;
    let scenes = NoiseScenes::of(&stream, args.learning.scene_len as usize)?;
    let mut agent = Remap::new(settings.clone(), scenes.shape(), RunSeed(1))?;
    let voting = voting_settings(args.voting, Preset::Default, true);
    for _ in 0..old {
        agent.play(&mut stream, &scenes)?;
        agent.compose(settings.clone(), voting, &scenes);
    }
    let VotingBenchArgs { candidates, batch, learning, .. } = args;
    let fields = format!("{old}\t{units}\t{}\t{candidates}\t{batch}", learning.scene_len);
    // The peers vote over one frozen module at least.
    let peers = if old > 0 { peers } else { &mut [] };
    Ok(Row { units, old, measured: learning.measure(&mut agent, &mut stream, &scenes, peers, &fields)? })
}

fn text(outcome: &Outcome) -> String {
    let rows = &outcome.voting;
    let mut head = ["units", "old modules", "time relative to one"].map(String::from).to_vec();
    head.extend(rows.iter().max_by_key(|row| row.old).map_or_else(Vec::new, |row| row.measured.headings()));
    let n_columns = head.len();
    let mut table = vec![head];
    for row in rows {
        let rate = row.measured.rate.steps_per_cpu_sec;
        let one = rows.iter().find(|other| other.units == row.units && other.old == 1);
        let times = one.map(|one| format!("{:.2}", one.measured.rate.steps_per_cpu_sec / rate));
        let mut cells = vec![row.units.to_string(), row.old.to_string(), times.unwrap_or_default()];
        cells.extend(row.measured.cells());
        cells.resize(n_columns, String::new());
        table.push(cells);
    }
    let Outcome { processor, scene_len, candidates, batch, .. } = outcome;
    format!(
        "{}\nEMS, one thread; {} inputs, {candidates} candidates per step, an update every {batch} steps; {}",
        aligned(&table),
        2 * scene_len,
        processor.name
    )
}
