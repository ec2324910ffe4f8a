//! The bare program: a module learns a task on the built-in images, and one can watch.

use crate::commands::train::{leave, say_files, train};
use crate::run_setup::{OpenedRun, RunSetup};
use crate::say::say;
use crate::train_words::TrainWords;
use anyhow::Result;
use std::path::PathBuf;
use touchstream_lab::run::{CHECKPOINT_EVERY, Ending, RunFolder};

const TASK: &str = "mts-2way-vert-motion-horiz-flip";
const STEPS: u64 = 100_000;

pub fn run() -> Result<()> {
    let words = TrainWords { task: Some(TASK.into()), steps: Some(STEPS), ..TrainWords::default() };
    let setup = RunSetup::new(words)?;
    say!("{TASK}: {}", setup.task.spec().title);
    say!("A picture, then two buttons at random places; touching the one of the same kind is rewarded.");
    say!("The module `ems` learns it from {STEPS} touches. (`touchstream --help` has everything else.)\n");
    let opened = setup.open()?;
    let folder = free_folder(&opened)?;
    let ending = train(&setup, &opened, &folder, CHECKPOINT_EVERY)?;
    if ending == Ending::Finished {
        say_files(&folder)?;
    }
    leave(ending)
}

/// `touchstream-out`, or the next of its name that holds no other run.
fn free_folder(opened: &OpenedRun) -> Result<PathBuf> {
    let mut n = 1;
    loop {
        let name = if n == 1 { "touchstream-out".into() } else { format!("touchstream-out-{n}") };
        match RunFolder::at(&name).read_identity()? {
            Some(identity) if identity != opened.identity => n += 1,
            _ => return Ok(name.into()),
        }
    }
}
