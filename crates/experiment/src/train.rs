//! A run into a folder: trained, or continued where it was stopped.

use crate::config_files::write_config;
use crate::error::Result;
use crate::inputs::Inputs;
use crate::run::{Ending, RunFolder, Training};
use crate::setup::RunSetup;
use crate::training_page;
use crate::watch::{Event, Watch};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// `runs/sr-2way-ems-0`.
pub fn default_folder(setup: &RunSetup) -> PathBuf {
    let module = &setup.plan.agent().module.id;
    PathBuf::from("runs").join(format!("{}-{module}-{}", setup.schedule.id(), setup.plan.seed))
}

/// Trains into a folder. A run that must stop writes a checkpoint first.
pub fn train(
    setup: &RunSetup,
    inputs: &Inputs,
    path: &Path,
    checkpoint_every: Duration,
    must_stop: &AtomicBool,
    watch: &dyn Watch,
) -> Result<Ending> {
    let folder = RunFolder::at(path);
    let identity = inputs.identity(setup.plan.clone());
    let training = Training::open(folder.clone(), identity, setup.world(inputs)?)?;
    let mut training = training.checkpoint_every(checkpoint_every);
    write_config(setup, &folder)?;
    let (step, n_steps) = (training.n_steps(), setup.plan.n_steps);
    match step {
        0 => {}
        step if step >= n_steps => watch.on(Event::RunAlreadyFinished { folder: path }),
        step => watch.on(Event::RunContinued { step }),
    }
    let module = &setup.plan.agent().module.id;
    watch.on(Event::TrainingStarted { tasks: &setup.tasks, module, step, n_steps });
    let on_moment = &mut |moment| watch.on(Event::TrainingAdvanced(&moment));
    let ending = training.run(&|| must_stop.load(Ordering::Relaxed), on_moment);
    watch.on(Event::TrainingEnded);
    let ending = ending?;
    match ending {
        Ending::Interrupted => {
            watch.on(Event::RunInterrupted { folder: path, step: training.n_steps(), n_steps });
        }
        Ending::Finished => training_page::write(setup, inputs, &training, &folder)?,
    }
    Ok(ending)
}
