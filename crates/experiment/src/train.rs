//! Trains a run into a folder, or resumes it.

use crate::config_files::write_config;
use crate::error::{Error, Result};
use crate::inputs::Inputs;
use crate::references::References;
use crate::run::{CHECKPOINT_EVERY, Ending, MovedRun, RunFolder, Training};
use crate::setup::RunSetup;
use crate::training_page;
use crate::watch::{Event, Watch};
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// `runs/sr-2way-ems-0`.
pub fn default_folder(setup: &RunSetup) -> PathBuf {
    let module = &setup.plan.agent().module.id;
    PathBuf::from("runs").join(format!("{}-{module}-{}", setup.schedule.id(), setup.plan.seed))
}

/// Where and how a run is trained.
pub struct TrainOptions<'a> {
    pub folder: &'a Path,
    pub checkpoint_every: Duration,
    /// Also trains the reference methods, on another thread: a module from scratch for each task, and one that is
    /// fine-tuned from task to task. Their curves are on the page and in `references.json`. They have no checkpoint.
    pub with_references: bool,
}

impl<'a> TrainOptions<'a> {
    pub fn into(folder: &'a Path) -> Self {
        Self { folder, checkpoint_every: CHECKPOINT_EVERY, with_references: false }
    }
}

/// Sets a flag when dropped, also after an error or a panic.
struct StopOnDrop<'a>(&'a AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Trains into a folder. A run that must stop writes a checkpoint first.
pub fn train(
    setup: &RunSetup,
    inputs: &Inputs,
    options: &TrainOptions<'_>,
    must_stop: &AtomicBool,
    watch: &dyn Watch,
) -> Result<Ending> {
    let path = options.folder;
    let folder = RunFolder::at(path);
    let identity = inputs.identity(setup.plan.clone());
    let hash = identity.hash();
    let training = Training::open(folder.clone(), identity, setup.world(inputs)?)?;
    let mut training = training.checkpoint_every(options.checkpoint_every);
    if let Some(MovedRun { problem, aside }) = training.moved() {
        watch.on(Event::RunSetAside { name: &path.display().to_string(), problem, aside });
    }
    if training.is_finished() {
        watch.on(Event::RunAlreadyFinished { folder: path });
        return Ok(Ending::Finished);
    }
    write_config(setup, &folder)?;
    let must_stop = || must_stop.load(Ordering::Relaxed);
    let saved = References::read(&folder, &hash);
    let agent_ended = AtomicBool::new(false);
    thread::scope(|scope| {
        let stop_references = StopOnDrop(&agent_ended);
        let thread = (options.with_references && saved.is_none()).then(|| {
            let must_stop = || must_stop() || agent_ended.load(Ordering::Relaxed);
            scope.spawn(move || References::train(setup, inputs, &hash, &must_stop))
        });
        let (step, n_steps) = (training.n_steps(), setup.plan.n_steps);
        if step > 0 {
            watch.on(Event::RunContinued { step });
        }
        let module = &setup.plan.agent().module.id;
        watch.on(Event::TrainingStarted { tasks: &setup.tasks, module, step, n_steps });
        let ending = training.run(&must_stop, &mut |moment| watch.on(Event::TrainingAdvanced(&moment)));
        watch.on(Event::TrainingEnded);
        let interrupted = |step: u64| {
            watch.on(Event::RunInterrupted { folder: path, step, n_steps });
            Ok(Ending::Interrupted)
        };
        if ending? == Ending::Interrupted {
            return interrupted(training.n_steps());
        }
        let trained = thread.map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)));
        drop(stop_references);
        let references = match trained {
            None => saved,
            Some(Ok(Some(trained))) => {
                folder.write(&folder.references(), &serde_json::to_vec(&trained).map_err(Error::other)?)?;
                Some(trained)
            }
            Some(Ok(None)) => return interrupted(training.n_steps()),
            Some(Err(error)) => {
                watch.on(Event::Note(&format!("the page has no references: {}", error.text())));
                None
            }
        };
        training_page::write(setup, inputs, &training, references.as_ref(), &folder)?;
        folder.write_manifest()?;
        Ok(Ending::Finished)
    })
}
