//! The bare program: an agent lives through a stream of tasks on the built-in images, and one can watch.

use crate::commands::train::say_files;
use crate::say::say;
use crate::signals::{leave, stop_flag};
use crate::terminal::Terminal;
use anyhow::Result;
use std::path::PathBuf;
use touchstream_experiment::config::RawConfig;
use touchstream_experiment::run::{CHECKPOINT_EVERY, Ending, RunFolder, RunIdentity};
use touchstream_experiment::{RunSetup, train};

/// Left or right; the same turned by a quarter; match-to-sample; the same with moving buttons; left or right again.
const TASKS: &str = "sr-2way:10000,sr-2way+rotation:10000,mts-2way-stationary:60000,\
                     mts-2way-vert-motion-horiz-flip:60000,sr-2way";
const STEPS: u64 = 150_000;

pub fn run() -> Result<()> {
    let config = RawConfig { schedule: Some(TASKS.into()), steps: Some(STEPS), ..RawConfig::default() };
    let setup = RunSetup::new(config)?;
    say!("One stream of {STEPS} touches and {} tasks, on the built-in images:", setup.tasks.len());
    for task in &setup.tasks {
        say!("  {:32} {}", task.id(), task.spec().title);
    }
    say!(
        "At every switch the agent keeps what it has learned, and builds the new skill out of old modules and"
    );
    say!("a new one, by voting. (`touchstream --help` has everything else.)\n");
    let terminal = Terminal::default();
    let inputs = setup.open(&terminal)?;
    let folder = free_folder(&inputs.identity(setup.plan.clone()))?;
    let ending = train(&setup, &inputs, &folder, CHECKPOINT_EVERY, &*stop_flag()?, &terminal)?;
    if ending == Ending::Finished {
        say_files(&folder)?;
    }
    leave(ending);
    Ok(())
}

/// `touchstream-out`, or the next of its name that holds no other run.
fn free_folder(wanted: &RunIdentity) -> Result<PathBuf> {
    let mut n = 1;
    loop {
        let name = if n == 1 { "touchstream-out".into() } else { format!("touchstream-out-{n}") };
        match RunFolder::at(&name).read_identity()? {
            Some(identity) if identity != *wanted => n += 1,
            _ => return Ok(name.into()),
        }
    }
}
