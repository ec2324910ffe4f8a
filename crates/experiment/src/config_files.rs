//! Writes a run's configuration into its folder: settings, and the tasks and schedule that they name.

use crate::config::{is_path, names_a_file};
use crate::error::Result;
use crate::run::RunFolder;
use crate::setup::RunSetup;
use std::path::Path;
use touchstream_env::schedule::Schedule;
use touchstream_env::task::{Task, find_task};

/// Writes all settings of the run. Tasks and schedules from files are copied into the folder, so that the run can be
/// resumed without the original files.
pub fn write_config(setup: &RunSetup, folder: &RunFolder) -> Result<()> {
    let mut config = setup.config.clone();
    if config.task.as_deref().is_some_and(is_path) {
        folder.write(&folder.task(), setup.tasks[0].to_toml().as_bytes())?;
        config.task = Some(name_of(&folder.task()));
    }
    if config.schedule.as_deref().is_some_and(names_a_file) {
        write_schedule(&setup.schedule, folder)?;
        config.schedule = Some(name_of(&folder.schedule()));
    }
    folder.write(&folder.config(), config.to_toml()?.as_bytes())
}

/// Writes a schedule, and a file for each task that is not built in.
fn write_schedule(schedule: &Schedule, folder: &RunFolder) -> Result<()> {
    let is_ours = |task: &Task| find_task(task.id()).is_ok_and(|ours| ours == *task);
    let mut others: Vec<&Task> = Vec::new();
    for task in schedule.segments().iter().map(|segment| &segment.task) {
        if !is_ours(task) && !others.contains(&task) {
            others.push(task);
            folder.write(&folder.schedule_task(others.len()), task.to_toml().as_bytes())?;
        }
    }
    let word_of = |task: &Task| match others.iter().position(|other| *other == task) {
        Some(idx) => name_of(&folder.schedule_task(idx + 1)),
        None => task.id().to_owned(),
    };
    folder.write(&folder.schedule(), schedule.to_toml(word_of).as_bytes())
}

fn name_of(path: &Path) -> String {
    path.file_name().map_or_else(String::new, |name| name.display().to_string())
}
