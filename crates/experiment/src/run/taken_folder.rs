//! A run's folder, locked for a run that begins, resumes or is finished in it.

use crate::error::{Context, Error, Result};
use crate::manifest::Manifest;
use crate::run::checkpoint::Checkpoint;
use crate::run::folder::RunFolder;
use crate::run::plan::RunIdentity;
use std::fs::{self, File};
use std::path::PathBuf;

pub(super) struct TakenFolder {
    /// The lock on the folder.
    _lock: File,
    /// Whether the run is complete and every file of it is intact.
    pub is_finished: bool,
    pub moved: Option<MovedRun>,
}

/// A finished run that was damaged: it is repeated, from its checkpoint if that is intact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MovedRun {
    pub problem: String,
    /// Where its files are now.
    pub aside: PathBuf,
}

impl TakenFolder {
    /// An error if the folder contains another run, or files of others.
    pub fn take(folder: &RunFolder, identity: &RunIdentity) -> Result<Self> {
        let lock = folder.claim()?;
        match state_of(folder, identity)? {
            State::Damaged(problem) => {
                let aside = folder.move_aside()?;
                // Of the new folder: the old one keeps its lock until the end of this function.
                let lock = folder.claim()?;
                folder.adopt(identity)?;
                inherit_checkpoint(&RunFolder::at(&aside), folder, identity)?;
                Ok(Self { _lock: lock, is_finished: false, moved: Some(MovedRun { problem, aside }) })
            }
            state => {
                folder.adopt(identity)?;
                Ok(Self { _lock: lock, is_finished: state == State::Finished, moved: None })
            }
        }
    }
}

#[derive(PartialEq, Eq)]
enum State {
    Finished,
    /// Not begun or not finished, or another run.
    Other,
    Damaged(String),
}

fn state_of(folder: &RunFolder, identity: &RunIdentity) -> Result<State> {
    let manifest = match Manifest::read(folder.path()) {
        Ok(Some(manifest)) => manifest,
        Ok(None) => return Ok(State::Other),
        Err(error) if error.is_out_of_reach() => return Err(error),
        // Not of a run, as the next error will say.
        Err(_) if !folder.identity().exists() => return Ok(State::Other),
        // Only a run that is known to be this one is moved aside.
        Err(error) if folder.read_identity()?.as_ref() != Some(identity) => return Err(error),
        Err(error) => return Ok(State::Damaged(error.text())),
    };
    let problem = manifest.first_problem(folder.path())?;
    if manifest.identity.as_ref() == Some(&identity.hash()) {
        return Ok(problem.map_or(State::Finished, |problem| State::Damaged(problem.text())));
    }
    problem.map_or(Ok(State::Other), Err)
}

impl RunFolder {
    /// An error if there is a checkpoint and it is damaged.
    pub fn check_checkpoint(&self) -> Result<()> {
        Checkpoint::read(&self.checkpoint()).map(|_| ())
    }
}

/// Links the checkpoint of a damaged run, or copies it, if it is intact and of the same run.
pub(crate) fn inherit_checkpoint(from: &RunFolder, to: &RunFolder, identity: &RunIdentity) -> Result<()> {
    let checkpoint = Checkpoint::read(&from.checkpoint());
    let is_intact = |checkpoint: Checkpoint| checkpoint.rest.identity == identity.hash();
    if !checkpoint.is_ok_and(|checkpoint| checkpoint.is_some_and(is_intact)) {
        return Ok(());
    }
    let (from, to) = (from.checkpoint(), to.checkpoint());
    fs::hard_link(&from, &to).or_else(|_| fs::copy(&from, &to).map(|_| ())).map_err(Error::from).at(&to)
}
