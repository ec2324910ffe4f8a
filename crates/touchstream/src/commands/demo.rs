//! The bare program: an agent lives through a stream of tasks on the built-in images, and one can watch.

use crate::commands::train::{leave, say_files, train};
use crate::run_setup::{OpenedRun, RunSetup};
use crate::say::say;
use crate::train_words::TrainWords;
use anyhow::Result;
use std::path::PathBuf;
use touchstream_lab::run::{CHECKPOINT_EVERY, Ending, RunFolder};

/// Left or right; the same turned by a quarter; match-to-sample; the same with moving buttons; left or right again.
const TASKS: &str = "sr-2way:10000,sr-2way+rotation:10000,mts-2way-stationary:60000,\
                     mts-2way-vert-motion-horiz-flip:60000,sr-2way";
const STEPS: u64 = 150_000;

pub fn run() -> Result<()> {
    let words = TrainWords { schedule: Some(TASKS.into()), steps: Some(STEPS), ..TrainWords::default() };
    let setup = RunSetup::new(words)?;
    say!("One stream of {STEPS} touches and {} tasks, on the built-in images:", setup.tasks.len());
    for task in &setup.tasks {
        say!("  {:32} {}", task.id(), task.spec().title);
    }
    say!(
        "At every switch the agent keeps what it has learned, and builds the new skill out of old modules and"
    );
    say!("a new one, by voting. (`touchstream --help` has everything else.)\n");
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
