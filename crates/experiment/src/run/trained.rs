//! The final state of a run, from which a second task is learned.

use crate::error::{Error, Result};
use crate::run::checkpoint::Checkpoint;
use crate::run::verified::VerifiedRun;
use std::path::PathBuf;
use touchstream_agents::RemapState;
use touchstream_env::stream::Snapshot;

/// The final state of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Trained {
    /// The file that it was read from.
    pub checkpoint: PathBuf,
    /// Hash of the run's identity.
    pub identity: String,
    pub agent: RemapState,
    pub stream: Snapshot,
}

impl Trained {
    /// Reads the last checkpoint of a run; `None` if there is none. A checkpoint of another program version may have
    /// the same shape and another meaning, and is refused.
    pub fn read(run: &VerifiedRun) -> Result<Option<Self>> {
        let path = run.folder().checkpoint();
        let Some(bytes) = run.read(&path)? else { return Ok(None) };
        let Checkpoint { agent, rest, .. } = Checkpoint::of_file(&path, &bytes)?;
        if run.read_identity()?.is_some_and(|identity| !identity.has_order_of_weights()) {
            let problem = "an earlier version of the program wrote it, with another order of weights";
            return Err(Error::damaged(&path, problem));
        }
        Ok(Some(Self { checkpoint: path, identity: rest.identity, agent, stream: rest.stream }))
    }
}
