//! `touchstream bench voting`: training steps a second with frozen modules, beside PyTorch.

use crate::commands::bench::noise_scenes::NoiseScenes;
use crate::commands::bench::peer_args::{N_ROUNDS, PeerArgs};
use crate::commands::bench::peers::Peers;
use crate::commands::bench::step_rate::StepRate;
use crate::say::say;
use crate::settings_args::choice;
use crate::text_table::aligned;
use anyhow::{Result, bail};
use clap::Args;
use serde::Serialize;
use std::sync::Arc;
use touchstream_agents::{AgentSettings, Remap, Scenes};
use touchstream_env::plain_stimuli::PlainStimuli;
use touchstream_env::schedule::Schedule;
use touchstream_env::seed::RunSeed;
use touchstream_env::stimuli::Split;
use touchstream_env::stream::Stream;
use touchstream_env::task::find_task;
use touchstream_experiment::config::{Preset, voting_settings};
use touchstream_modules::composite::Voting;

#[derive(Args)]
pub struct VotingBenchArgs {
    /// How many frozen modules
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_value = "0,1,2,4,8,16")]
    old: Vec<usize>,
    /// Units of every layer
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_value = "8,32")]
    units: Vec<usize>,
    /// Who is voted on; PyTorch votes on layers
    #[arg(long, value_parser = choice::<Voting>(), value_name = "HOW", default_value = "layer")]
    voting: Voting,
    /// Candidate touches a step
    #[arg(long, value_name = "N", default_value_t = 256)]
    candidates: usize,
    /// Steps between two updates
    #[arg(long, value_name = "N", default_value_t = 8)]
    batch: usize,
    #[command(flatten)]
    peer: PeerArgs,
}

/// One number of frozen modules, measured.
#[derive(Serialize)]
struct Measured {
    units: usize,
    old: usize,
    #[serde(flatten)]
    rate: StepRate,
    pytorch_steps_per_sec: Option<f64>,
    times_pytorch: Option<f64>,
}

const MAX_OLD: usize = 64;
const SCRIPT: &str = include_str!("../../../../../peers/remap_voting.py");

pub fn run(args: &VotingBenchArgs) -> Result<()> {
    if let Some(n) = args.old.iter().find(|&&n| n > MAX_OLD) {
        bail!("old: {n} is more than {MAX_OLD}");
    }
    let mut peers = args.peer.start(SCRIPT)?;
    let mut rows = Vec::new();
    for &units in &args.units {
        for &old in &args.old {
            rows.push(measure(args, units, old, peers.as_mut())?);
        }
    }
    match args.peer.json {
        true => say!("{}", serde_json::to_string_pretty(&rows)?),
        false => say!("{}", text(args, &rows).trim_end()),
    }
    Ok(())
}

fn measure(
    args: &VotingBenchArgs,
    units: usize,
    old: usize,
    mut peers: Option<&mut Peers>,
) -> Result<Measured> {
    let task = find_task("mts-2way-stationary")?;
    let mut settings = AgentSettings::for_task("ems", &task)?;
    settings.module.units.fill(units);
    (settings.n_candidates, settings.batch_steps) = (args.candidates, args.batch);
    let stimuli = Arc::new(PlainStimuli::new(2));
    let (mut stream, _) = Stream::open(Schedule::single(task), stimuli, Split::Train, RunSeed(1))?;
    let scenes = NoiseScenes::of(&stream, args.peer.scene_len as usize)?;
    let mut agent = Remap::new(settings.clone(), scenes.shape(), RunSeed(1))?;
    let voting = voting_settings(args.voting, Preset::Default, true);
    for _ in 0..old {
        agent.play(&mut stream, &scenes)?;
        agent.compose(settings.clone(), voting, &scenes);
    }
    agent.play(&mut stream, &scenes)?;
    let (mut rate, mut best_of_peer) = (StepRate::default(), None);
    for _ in 0..N_ROUNDS {
        rate.measure_round(args.peer.secs, || {
            let before = agent.n_steps();
            agent.play(&mut stream, &scenes)?;
            Ok(agent.n_steps() - before)
        })?;
        if let Some(peers) = peers.as_deref_mut().filter(|_| old > 0) {
            let of_peer = ask(peers, args, units, old, best_of_peer)?;
            best_of_peer = Some(best_of_peer.map_or(of_peer, |best: f64| best.max(of_peer)));
        }
    }
    Ok(Measured {
        units,
        old,
        rate,
        pytorch_steps_per_sec: best_of_peer,
        times_pytorch: best_of_peer.map(|peer| rate.steps_per_sec / peer),
    })
}

fn ask(
    peers: &mut Peers,
    args: &VotingBenchArgs,
    units: usize,
    old: usize,
    known: Option<f64>,
) -> Result<f64> {
    let VotingBenchArgs { candidates, batch, peer, .. } = args;
    let scene_len = peer.scene_len;
    peer.ask(peers, *batch, known, |n_updates| {
        format!("{old}\t{units}\t{scene_len}\t{candidates}\t{batch}\t{n_updates}")
    })
}

fn text(args: &VotingBenchArgs, rows: &[Measured]) -> String {
    let head = [
        "units",
        "old modules",
        "steps/s",
        "per CPU s",
        "microseconds",
        "beside one",
        "PyTorch steps/s",
        "times",
    ];
    let mut table = vec![head.map(String::from)];
    for row in rows {
        let one = rows.iter().find(|other| other.units == row.units && other.old == 1);
        let perhaps =
            |number: Option<f64>, digits: usize| number.map_or_else(String::new, |x| format!("{x:.digits$}"));
        table.push([
            row.units.to_string(),
            row.old.to_string(),
            format!("{:.0}", row.rate.steps_per_sec),
            format!("{:.0}", row.rate.steps_per_cpu_sec),
            format!("{:.0}", 1e6 / row.rate.steps_per_sec),
            perhaps(one.map(|one| one.rate.steps_per_sec / row.rate.steps_per_sec), 2),
            perhaps(row.pytorch_steps_per_sec, 0),
            perhaps(row.times_pytorch, 1),
        ]);
    }
    let VotingBenchArgs { candidates, batch, peer, .. } = args;
    format!(
        "{}\nEMS, one thread; {} inputs, {candidates} candidates a step, an update every {batch} steps",
        aligned(&table),
        2 * peer.scene_len
    )
}
