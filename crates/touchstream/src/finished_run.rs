//! A finished run, opened again: its weights, its images and its features.

use crate::run_setup::{OpenedRun, RunSetup};
use crate::train_words::TrainWords;
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use touchstream_env::stimuli::Split;
use touchstream_env::stream::Stream;
use touchstream_lab::run::{RunFolder, StoredWeights, read_weights};

pub struct FinishedRun {
    setup: RunSetup,
    pub opened: OpenedRun,
    pub weights: StoredWeights,
}

impl FinishedRun {
    pub fn open(path: &Path, cache: Option<PathBuf>) -> Result<Self> {
        let folder = RunFolder::at(path);
        if !folder.config().exists() {
            bail!("{} is not the folder of a run: it has no config.toml", path.display());
        }
        let mut words = TrainWords::read(&folder.config())?;
        words.images.cache = cache;
        let setup = RunSetup::new(words)?;
        let weights = match folder.weights().exists() {
            true => read_weights(&folder.weights())?,
            false => {
                let (of, folder) = (path.display(), path.display());
                bail!(
                    "{of} has no weights yet: the run has not finished; `touchstream train --resume {folder}` goes on with it"
                )
            }
        };
        let opened = setup.open()?;
        let (there, here) = (&weights.facts, &opened.identity);
        for (what, there, here) in [
            ("images", &there.data_hash, &here.data_hash),
            ("encoder", &there.encoder_hash, &here.encoder_hash),
            ("centring", &there.calibration_hash, &here.calibration_hash),
        ] {
            if there != here {
                bail!("{}: its {what} had the hash {there}, those of now {here}", path.display());
            }
        }
        Ok(Self { setup, opened, weights })
    }

    /// Trials of a split under a seed.
    pub fn stream(&self, split: Split, seed: u64) -> Result<Stream> {
        let stimuli = self.opened.train.bound_task().stimuli();
        self.setup.stream(stimuli, split, seed).context("task")
    }

    /// A seed other than the run's own.
    pub fn fresh_seed(&self) -> u64 {
        self.setup.plan.seed.wrapping_add(1_000_000)
    }
}
