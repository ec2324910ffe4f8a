//! Trains a run into a folder, or continues it.

use crate::config_files::write_config;
use crate::error::{Error, Result};
use crate::inputs::Inputs;
use crate::references::References;
use crate::run::{Ending, RunFolder, Training};
use crate::setup::RunSetup;
use crate::training_page;
use crate::watch::{Event, Watch};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
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
    train_next_to(setup, inputs, path, checkpoint_every, must_stop, watch, || Ok(None))
}

/// Trains into a folder and, on another thread, a module from scratch for each task and one that is fine-tuned from task to
/// task; their curves are on the page and in `references.json`.
pub fn train_with_references(
    setup: &RunSetup,
    inputs: &Inputs,
    path: &Path,
    checkpoint_every: Duration,
    must_stop: &AtomicBool,
    watch: &dyn Watch,
) -> Result<Ending> {
    let folder = RunFolder::at(path);
    let file = folder.references();
    let known = folder.read(&file).ok().and_then(|json| serde_json::from_slice::<References>(&json).ok());
    thread::scope(|scope| {
        let references = known.is_none().then(|| scope.spawn(|| References::train(setup, inputs, must_stop)));
        let ending = train_next_to(setup, inputs, path, checkpoint_every, must_stop, watch, || {
            let Some(thread) = references else { return Ok(known) };
            let trained = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
            if let Some(trained) = &trained {
                folder.write(&file, &serde_json::to_vec(trained).map_err(Error::other)?)?;
            }
            Ok(trained)
        });
        if ending.is_err() {
            must_stop.store(true, Ordering::Relaxed);
        }
        ending
    })
}

fn train_next_to(
    setup: &RunSetup,
    inputs: &Inputs,
    path: &Path,
    checkpoint_every: Duration,
    must_stop: &AtomicBool,
    watch: &dyn Watch,
    references: impl FnOnce() -> Result<Option<References>>,
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
        Ending::Finished => training_page::write(setup, inputs, &training, references()?.as_ref(), &folder)?,
    }
    Ok(ending)
}
