//! A run of a study that starts from nothing.

use crate::config::RawConfig;
use crate::config_files::write_config;
use crate::error::{Error, Result};
use crate::run::{Ending, Moment, RunFolder, Training, World};
use crate::run_setup::{RunSetup, identity_of};
use crate::study::Ended;
use crate::study::shared_inputs::SharedInputs;
use std::time::Duration;
use touchstream_agents::{PlayError, Scenes};
use touchstream_env::stimuli::Split;

/// How a run of a study is followed, and when it must stop.
pub struct Watched<'a> {
    pub must_stop: &'a dyn Fn() -> bool,
    pub on_moment: &'a dyn Fn(Moment),
    /// Called with the step at which a run continues that another process began.
    pub on_return: &'a dyn Fn(u64),
    pub checkpoint_every: Duration,
}

/// Trains what a configuration says into a folder.
pub fn run_alone(
    config: &RawConfig,
    inputs: &SharedInputs,
    folder: &RunFolder,
    watched: &Watched<'_>,
) -> Result<Ended> {
    let setup = RunSetup::new(config.clone())?;
    let task = &setup.tasks[0];
    let stream = |split| setup.stream_of(task, &inputs.stimuli, split, setup.plan.seed);
    let world = World {
        train: stream(Split::Train)?,
        validations: vec![stream(Split::Validation)?],
        scenes: &inputs.scenes,
    };
    let identity = identity_of(
        setup.plan.clone(),
        inputs.data.content_hash.clone(),
        inputs.encoder_hash.clone(),
        inputs.calibration_hash(),
    );
    let training = Training::open(folder.clone(), identity, world)?;
    write_config(&setup, folder)?;
    run_to_its_end(training, watched)
}

/// A run that diverges has a result: that it cannot be learned so.
pub fn run_to_its_end<S: Scenes>(training: Training<'_, S>, watched: &Watched<'_>) -> Result<Ended> {
    let mut training = training.checkpoint_every(watched.checkpoint_every);
    if training.n_steps() > 0 {
        (watched.on_return)(training.n_steps());
    }
    match training.run(watched.must_stop, &mut |moment| (watched.on_moment)(moment)) {
        Ok(Ending::Finished) | Err(Error::Play(PlayError::Diverged { .. })) => Ok(Ended::Complete),
        Ok(Ending::Interrupted) => Ok(Ended::Interrupted),
        Err(error) => Err(error),
    }
}
