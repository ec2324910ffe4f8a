//! The final state of a run, from which a second task is learned.

use crate::error::{Error, Result};
use crate::run::checkpoint::Checkpoint;
use crate::run::folder::RunFolder;
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
    pub fn read(folder: &RunFolder) -> Result<Option<Self>> {
        let path = folder.checkpoint();
        let checkpoint = Checkpoint::read(&path)?;
        let identity = folder.read_identity()?;
        if checkpoint.is_some() && identity.is_some_and(|identity| !identity.is_of_this_version()) {
            let problem = "an earlier version of the program wrote it, with another order of weights";
            return Err(Error::damaged(&path, problem));
        }
        Ok(checkpoint.map(|Checkpoint { agent, rest, .. }| Self {
            checkpoint: path,
            identity: rest.identity,
            agent,
            stream: rest.stream,
        }))
    }
}
