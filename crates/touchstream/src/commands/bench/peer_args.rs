//! What every benchmark of learning can be told: for how long, and beside whom.

use crate::commands::bench::peers::Peers;
use anyhow::{Result, bail};
use clap::Args;
use std::path::PathBuf;

#[derive(Args)]
pub struct PeerArgs {
    /// Numbers of a scene vector; two of them are read
    #[arg(long, value_name = "N", default_value_t = 4096, value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    pub scene_len: u64,
    /// About how long each is measured, in seconds, in each of three rounds; the fastest counts
    #[arg(long, value_name = "SECS", default_value_t = 0.5)]
    pub secs: f64,
    /// A Python with torch: the same work is then measured there too (`scripts/python-env --peers` makes one)
    #[arg(long, value_name = "FILE")]
    python: Option<PathBuf>,
    /// Print as JSON
    #[arg(long)]
    pub json: bool,
}

/// The fastest of so many counts.
pub const N_ROUNDS: usize = 3;

impl PeerArgs {
    /// Starts PyTorch with a script, if one is to be measured beside it.
    pub fn start(&self, script: &str) -> Result<Option<Peers>> {
        if !(self.secs > 0.0 && self.secs.is_finite()) {
            bail!("secs: {} is not a time above 0", self.secs);
        }
        self.python.as_ref().map(|python| Peers::start(python, script, &[])).transpose()
    }

    /// Steps a second of PyTorch, measured for about as long as ours. `question` asks for so many updates of `batch`
    /// steps; `known` is what was found before.
    pub fn ask(
        &self,
        peers: &mut Peers,
        batch: usize,
        known: Option<f64>,
        question: impl Fn(usize) -> String,
    ) -> Result<f64> {
        let rate = match known {
            Some(rate) => rate,
            None => peers.ask(&question(1))?[0],
        };
        let n_updates = (rate * self.secs / batch as f64).ceil().max(1.0) as usize;
        Ok(peers.ask(&question(n_updates))?[0])
    }
}
