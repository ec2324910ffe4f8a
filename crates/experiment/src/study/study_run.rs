//! Executes a run of a study in this process.

use crate::config::RawConfig;
use crate::config_files::write_config;
use crate::error::{Error, Result, bail};
use crate::inputs::Inputs;
use crate::run::{Ending, Moment, RunFolder, RunIdentity, Training, inherit_checkpoint};
use crate::setup::RunSetup;
use crate::study::cell::{Cell, CellPlan};
use crate::study::{Ended, StudyFolder};
use crate::watch::{Event, Watch};
use std::time::Duration;
use touchstream_agents::{FeatureSource, PlayError};
use touchstream_analysis::RunKind;

pub struct StudyRun<'a> {
    pub cell: &'a Cell,
    pub study: &'a StudyFolder,
    pub inputs: &'a Inputs,
    /// The folder in which the run is trained until it is complete.
    pub folder: &'a RunFolder,
    pub must_stop: &'a dyn Fn() -> bool,
    pub watch: &'a dyn Watch,
    pub checkpoint_every: Duration,
}

impl StudyRun<'_> {
    /// Trains to the last step, or until the run must stop.
    pub fn work(&self) -> Result<Ended> {
        match (&self.cell.what, &self.cell.facts.kind) {
            (CellPlan::Alone(config), _) => self.run_alone(config),
            (CellPlan::Base(plan), _) => plan.run_base(self),
            (CellPlan::Second(plan), RunKind::Second { base, way, .. }) => {
                plan.run_second(self, *way, &self.study.run(base))
            }
            (CellPlan::Second(_), _) => bail!(Folder, "{}: its base is unknown", self.cell.name),
        }
    }

    fn run_alone(&self, config: &RawConfig) -> Result<Ended> {
        let setup = RunSetup::new(config.clone())?;
        let identity = self.inputs.identity(setup.plan.clone());
        self.take_up_damaged(&identity)?;
        let training = Training::open(self.folder.clone(), identity, setup.world(self.inputs)?)?;
        write_config(&setup, self.folder)?;
        self.run_to_its_end(training)
    }

    /// If the run was complete and was set aside, it resumes from its last checkpoint, where that is intact.
    pub fn take_up_damaged(&self, identity: &RunIdentity) -> Result<()> {
        let Some(damaged) = self.study.set_aside_before(&self.cell.name) else { return Ok(()) };
        if self.folder.checkpoint().exists() {
            return Ok(());
        }
        self.folder.adopt(identity)?;
        inherit_checkpoint(&damaged, self.folder, identity)
    }

    /// A run that diverges is complete, too: divergence is its result.
    pub fn run_to_its_end<S: FeatureSource>(&self, training: Training<'_, S>) -> Result<Ended> {
        let mut training = training.checkpoint_every(self.checkpoint_every);
        let Self { cell, must_stop, watch, .. } = *self;
        let mut before = training.n_steps();
        if before > 0 {
            watch.on(Event::StudyRunContinued { name: &cell.name, step: before });
        }
        let on_moment = &mut |Moment { n_steps, .. }| {
            watch.on(Event::StudyRunAdvanced { cell, n_steps: n_steps.saturating_sub(before) });
            before = n_steps;
        };
        match training.run(must_stop, on_moment) {
            Ok(Ending::Finished) | Err(Error::Play(PlayError::Diverged { .. })) => Ok(Ended::Complete),
            Ok(Ending::Interrupted) => Ok(Ended::Interrupted),
            Err(error) => Err(error),
        }
    }
}
