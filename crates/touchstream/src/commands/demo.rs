//! `touchstream` without a command: one agent learns a stream of tasks on built-in images, next to two references.

use crate::commands::train::print_files;
use crate::signals::{leave, stop_flag};
use crate::stdio::print_line;
use crate::terminal::Terminal;
use anyhow::Result;
use std::path::PathBuf;
use touchstream_analysis::thousands;
use touchstream_experiment::config::RawConfig;
use touchstream_experiment::run::{Ending, RunFolder, RunIdentity};
use touchstream_experiment::{RunSetup, TrainOptions, train};

/// Left or right; the same rotated; match-to-sample; with moving templates; then the first task again.
const TASKS: &str = "sr-2way:10000,sr-2way+rotation:10000,mts-2way-stationary:60000,\
                     mts-2way-vert-motion-horiz-flip:60000,sr-2way";
const STEPS: u64 = 150_000;

pub fn run() -> Result<()> {
    let config = RawConfig { schedule: Some(TASKS.into()), steps: Some(STEPS), ..RawConfig::default() };
    let setup = RunSetup::new(config)?;
    print_line!(
        "One stream of {} steps and {} tasks, on the built-in images:",
        thousands(STEPS),
        setup.tasks.len()
    );
    for task in &setup.tasks {
        print_line!("  {:32} {}", task.id(), task.spec().title);
    }
    print_line!(
        "At each switch the agent freezes its modules and learns the new task with all of them and one new module,"
    );
    print_line!("by voting. A module from scratch for each task and a fine-tuned one learn alongside.");
    print_line!("(`touchstream --help` lists the other commands.)\n");
    let terminal = Terminal::default();
    let inputs = setup.open(&terminal)?;
    let folder = free_folder(&inputs.identity(setup.plan.clone()))?;
    let must_stop = stop_flag()?;
    let options = TrainOptions { with_references: true, ..TrainOptions::into(&folder) };
    let ending = train(&setup, &inputs, &options, &must_stop, &terminal)?;
    if ending == Ending::Finished {
        print_files(&folder)?;
    }
    leave(ending);
    Ok(())
}

/// `touchstream-out`, or with the first number that no other run uses.
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
