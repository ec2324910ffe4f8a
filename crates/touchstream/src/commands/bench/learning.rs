//! Steps per second of an agent and of its peers: what `bench modules` and `bench voting` share.

use crate::commands::bench::compare::CompareArgs;
use crate::commands::bench::peers::Peers;
use anyhow::{Result, bail};
use clap::Args;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;
use touchstream_agents::Remap;
use touchstream_env::stream::Stream;
use touchstream_experiment::bench::NoiseScenes;
use touchstream_experiment::study::thread_cpu_time;

const MAX_SECS: f64 = 3600.0;

#[derive(Args)]
pub struct LearningArgs {
    /// Length of a scene vector; the input is two of them
    #[arg(long, value_name = "N", default_value_t = 4096, value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    pub scene_len: u64,
    /// Seconds per measurement; each is repeated three times and the fastest is reported
    #[arg(long, value_name = "SECS", default_value_t = 0.5)]
    secs: f64,
    /// A Python with jax, torch or both: the same work is then measured there, too (`scripts/python-env --peers`
    /// installs both into .venv, `--jax` only jax)
    #[arg(long, value_name = "FILE")]
    python: Option<PathBuf>,
    #[command(flatten)]
    pub compare: CompareArgs,
    /// Print as JSON
    #[arg(long)]
    pub json: bool,
}

/// Rounds in which everything is measured in turn.
pub const N_ROUNDS: usize = 3;

/// One thread, as for our own measurement.
const ONE_THREAD: [(&str, &str); 3] =
    [("OMP_NUM_THREADS", "1"), ("NPROC", "1"), ("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")];

/// The fastest of several rounds, each rate on its own.
#[derive(Copy, Clone, Default, Serialize)]
pub struct StepRate {
    pub steps_per_sec: f64,
    /// Per second of CPU time: other work on the machine disturbs it less.
    pub steps_per_cpu_sec: f64,
}

impl StepRate {
    fn keep_faster(&mut self, other: Self) {
        self.steps_per_sec = self.steps_per_sec.max(other.steps_per_sec);
        self.steps_per_cpu_sec = self.steps_per_cpu_sec.max(other.steps_per_cpu_sec);
    }
}

#[derive(Serialize)]
pub struct PeerRate {
    name: String,
    #[serde(flatten)]
    rate: StepRate,
}

/// Our rates next to those of peers.
#[derive(Default, Serialize)]
pub struct Measured {
    #[serde(flatten)]
    pub rate: StepRate,
    pub peers: Vec<PeerRate>,
    /// Our rate over the faster peer's, by CPU time and by wall clock.
    times_faster_peer: Option<StepRate>,
}

/// A peer's Python package, and its script from files of `peers/`.
pub struct PeerScript {
    pub package: &'static str,
    pub script: &'static str,
}

macro_rules! peer_script {
    ($($file:literal),*) => {
        concat!($(include_str!(concat!("../../../../../peers/", $file)),)* include_str!("../../../../../peers/serve.py"))
    };
}
pub(super) use peer_script;

impl LearningArgs {
    /// Starts every peer whose package is installed; none without `--python`.
    pub fn start_peers(&self, scripts: &[PeerScript]) -> Result<Vec<Peers>> {
        if !(self.secs > 0.0 && self.secs <= MAX_SECS) {
            bail!("secs: {} is not above 0 and at most {MAX_SECS}", self.secs);
        }
        let Some(python) = &self.python else { return Ok(Vec::new()) };
        let mut peers = Vec::new();
        for PeerScript { package, script } in scripts {
            if is_installed(python, package)? {
                peers.push(Peers::start(python, script, &[], &ONE_THREAD)?);
            }
        }
        if peers.is_empty() {
            let packages: Vec<_> = scripts.iter().map(|script| script.package).collect();
            bail!("{} has none of these packages: {}", python.display(), packages.join(", "));
        }
        Ok(peers)
    }

    /// Measures the agent and the peers in turn. `fields` is the setting, as the peers' scripts read it.
    pub fn measure(
        &self,
        agent: &mut Remap,
        stream: &mut Stream,
        scenes: &NoiseScenes,
        peers: &mut [Peers],
        fields: &str,
    ) -> Result<Measured> {
        agent.play(stream, scenes)?;
        let mut measured = Measured::default();
        for peer in &mut *peers {
            // The first answer is slow: it includes compilation. It only sets the number of updates to ask for.
            measured.peers.push(PeerRate { name: peer.names[0].clone(), rate: ask(peer, fields, 1)? });
        }
        for _ in 0..N_ROUNDS {
            let (start, cpu_start, first_step) = (Instant::now(), thread_cpu_time(), agent.n_steps());
            let mut n_updates = 0;
            while start.elapsed().as_secs_f64() < self.secs {
                agent.play(stream, scenes)?;
                n_updates += 1;
            }
            let n_steps = (agent.n_steps() - first_step) as f64;
            measured.rate.keep_faster(StepRate {
                steps_per_sec: n_steps / start.elapsed().as_secs_f64(),
                steps_per_cpu_sec: n_steps / (thread_cpu_time() - cpu_start).as_secs_f64(),
            });
            for (peer, row) in peers.iter_mut().zip(&mut measured.peers) {
                let n_updates = f64::from(n_updates) * row.rate.steps_per_sec / measured.rate.steps_per_sec;
                row.rate.keep_faster(ask(peer, fields, n_updates.ceil() as usize)?);
            }
        }
        let fastest =
            |rate: fn(&StepRate) -> f64| measured.peers.iter().map(|peer| rate(&peer.rate)).reduce(f64::max);
        if let (Some(by_wall), Some(by_cpu)) =
            (fastest(|it| it.steps_per_sec), fastest(|it| it.steps_per_cpu_sec))
        {
            measured.times_faster_peer = Some(StepRate {
                steps_per_sec: measured.rate.steps_per_sec / by_wall,
                steps_per_cpu_sec: measured.rate.steps_per_cpu_sec / by_cpu,
            });
        }
        Ok(measured)
    }
}

fn ask(peer: &mut Peers, fields: &str, n_updates: usize) -> Result<StepRate> {
    match peer.ask(&format!("{fields}\t{n_updates}"))?[..] {
        [steps_per_sec, steps_per_cpu_sec] => Ok(StepRate { steps_per_sec, steps_per_cpu_sec }),
        _ => bail!("the peer's answer does not have two rates"),
    }
}

fn is_installed(python: &Path, package: &str) -> Result<bool> {
    let check =
        format!("import importlib.util, sys; sys.exit(importlib.util.find_spec('{package}') is None)");
    match Command::new(python).args(["-c", &check]).status() {
        Ok(status) => Ok(status.success()),
        Err(error) => bail!("cannot start {}: {error}", python.display()),
    }
}

impl Measured {
    /// Headings of `cells`.
    pub fn headings(&self) -> Vec<String> {
        let mut headings = ["steps/s", "per CPU s"].map(String::from).to_vec();
        headings.extend(self.peers.iter().map(|peer| format!("{} per CPU s", peer.name)));
        if !self.peers.is_empty() {
            headings.extend(["times the faster", "by wall clock"].map(String::from));
        }
        headings
    }

    pub fn cells(&self) -> Vec<String> {
        let rate = &self.rate;
        let mut cells = vec![format!("{:.0}", rate.steps_per_sec), format!("{:.0}", rate.steps_per_cpu_sec)];
        cells.extend(self.peers.iter().map(|peer| format!("{:.0}", peer.rate.steps_per_cpu_sec)));
        if let Some(times) = self.times_faster_peer {
            cells.extend([times.steps_per_cpu_sec, times.steps_per_sec].map(|times| format!("{times:.1}")));
        }
        cells
    }
}
