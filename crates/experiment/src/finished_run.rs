//! Opens a finished run: weights, images and features.

use crate::config::RawConfig;
use crate::error::{Context, Error, Result, bail};
use crate::inputs::Inputs;
use crate::run::{RunFolder, RunStatus, Stage, WeightsFacts, read_weights};
use crate::setup::RunSetup;
use crate::watch::Watch;
use std::path::{Path, PathBuf};
use touchstream_agents::skill_on;
use touchstream_env::stimuli::Split;
use touchstream_env::stream::Stream;
use touchstream_modules::Skill;

pub struct FinishedRun {
    setup: RunSetup,
    pub inputs: Inputs,
    pub skill: Skill,
    pub facts: WeightsFacts,
}

impl FinishedRun {
    pub fn open(path: &Path, cache: Option<PathBuf>, watch: &dyn Watch) -> Result<Self> {
        let folder = RunFolder::at(path);
        if !folder.config().exists() {
            bail!(Folder, "{} is not the folder of a run: it has no config.toml", path.display());
        }
        let mut config = RawConfig::read(&folder.config())?;
        config.images.cache = cache;
        let setup = RunSetup::new(config)?;
        if !folder.weights().exists() {
            return Err(Error::Folder(why_no_weights(path, folder.read_status()?)));
        }
        let weights = read_weights(&folder.weights())?;
        let inputs = setup.open(watch)?;
        let mut wanted = inputs.identity(setup.plan.clone());
        // The run may have been trained on a machine with other rounding; it can be evaluated here all the same.
        if let Some(found) = folder.read_identity()? {
            wanted.rounding = found.rounding;
        }
        if let Some(difference) = folder.difference_from(&wanted)? {
            bail!(
                Folder,
                "{}: it was trained with other images, features or settings than those here ({difference})",
                path.display()
            );
        }
        let skill = skill_on(&inputs.scenes, weights.module, weights.controller);
        Ok(Self { setup, inputs, skill, facts: weights.facts })
    }

    /// The stream of the last task on a split, at its first step.
    pub fn stream(&self, split: Split, seed: u64) -> Result<Stream> {
        let task = &self.setup.tasks[self.setup.tasks.len() - 1];
        self.setup.stream_of(task, &self.inputs.stimuli, split, seed).context("task")
    }

    /// A seed that differs from the run's own.
    pub fn fresh_seed(&self) -> u64 {
        self.setup.plan.seed.wrapping_add(1_000_000)
    }
}

fn why_no_weights(path: &Path, status: Option<RunStatus>) -> String {
    let path = path.display();
    match status {
        Some(RunStatus { stage: Stage::Failed, reason, .. }) => {
            format!(
                "{path} has no weights: the run failed ({})",
                reason.unwrap_or_else(|| "no reason is known".into())
            )
        }
        _ => format!(
            "{path} has no weights yet: the run has not finished; `touchstream train --resume {path}` resumes it"
        ),
    }
}
