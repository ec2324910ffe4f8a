//! A finished run, to go on from: its agent and where its stream stood.

use crate::run::checkpoint::Checkpoint;
use crate::run::error::RunError;
use crate::run::folder::RunFolder;
use std::path::PathBuf;
use touchstream_agent::RemapState;
use touchstream_env::stream::Snapshot;

/// What a run ended with.
#[derive(Clone, Debug, PartialEq)]
pub struct Trained {
    /// Where this comes from.
    pub checkpoint: PathBuf,
    /// The run's identity, as one word.
    pub identity: String,
    /// The agent.
    pub agent: RemapState,
    /// Its stream.
    pub stream: Snapshot,
}

impl Trained {
    /// Reads the last checkpoint of a run; `None` if there is none.
    pub fn read(folder: &RunFolder) -> Result<Option<Self>, RunError> {
        let path = folder.checkpoint();
        let checkpoint = Checkpoint::read(&path)?;
        Ok(checkpoint.map(|Checkpoint { agent, rest, .. }| Self {
            checkpoint: path,
            identity: rest.identity,
            agent,
            stream: rest.stream,
        }))
    }
}
