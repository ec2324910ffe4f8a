//! Opens a finished run: weights, images and features.

use crate::config::RawConfig;
use crate::error::{Context, Error, Result, bail};
use crate::inputs::Inputs;
use crate::run::{RunFolder, RunStatus, Stage, VerifiedRun, WeightsFacts, difference, read_weights};
use crate::setup::RunSetup;
use crate::watch::{Event, Watch};
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
    /// Opens a run after comparing what is read of it with its manifest; a damaged run is refused.
    pub fn open(path: &Path, cache: Option<PathBuf>, watch: &dyn Watch) -> Result<Self> {
        let folder = RunFolder::at(path);
        let damaged = || {
            format!(
                "{0} is damaged; `touchstream train --resume {0}` moves it aside and repeats it",
                path.display()
            )
        };
        let read = VerifiedRun::open(folder.clone()).and_then(|run| {
            let config = run.read_text(&folder.config())?;
            // Named here, and compared once more as part of the identity.
            for name in folder.own_files()?.iter().filter(|name| name.ends_with(".toml")) {
                run.read(&path.join(name))?;
            }
            Ok((config, run.read_status()?, run.read_identity()?, read_weights(&run)?, run))
        });
        let read = read.map_err(|error| match error {
            Error::Damaged { .. } => Error::In { context: damaged(), source: Box::new(error) },
            error => error,
        });
        let (config, status, identity, weights, run) = read?;
        let Some(config) = config else {
            bail!(Folder, "{} is not the folder of a run: it has no config.toml", path.display());
        };
        let mut config = RawConfig::from_text(&config, &folder.config())?;
        config.images.cache = cache;
        let setup = RunSetup::new(config)?;
        let is_finished = status.as_ref().is_some_and(|status| status.stage == Stage::Finished);
        let Some(weights) = weights.filter(|_| is_finished) else {
            return Err(Error::Folder(why_no_weights(path, status)));
        };
        if run.manifest().is_none() {
            watch.on(Event::WithoutManifest { path });
        }
        let inputs = setup.open(watch)?;
        let mut wanted = inputs.identity(setup.plan.clone());
        if let Some(found) = identity {
            // The run may have been trained on a machine with other rounding; it can be evaluated here all the same.
            wanted.rounding.clone_from(&found.rounding);
            if found != wanted {
                bail!(
                    Folder,
                    "{}: it was trained with other images, features or settings than those here ({})",
                    path.display(),
                    difference(&found, &wanted)
                );
            }
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
