//! Tasks and schedules from arguments: an id, a list, or the path of a file.

use crate::error::{Context, Error, Result, bail};
use std::path::Path;
use touchstream_env::schedule::{Length, Repeats, Schedule, Segment, find_schedule, parse_schedule};
use touchstream_env::task::{MatchScreen, Paradigm, Task, find_task, language::parse_task};
use touchstream_files::read_at_most;
use touchstream_stimuli::Needs;

/// The task with an id such as `sr-2way+rotation`, or of a task file.
pub fn parse_task_arg(word: &str) -> Result<Task> {
    if is_path(word) { task_from_file(Path::new(word)) } else { Ok(find_task(word)?) }
}

pub fn task_from_file(path: &Path) -> Result<Task> {
    task_from_text(&read_text(path)?, path)
}

/// The task in the text of a task file; errors name file, line and field.
pub fn task_from_text(text: &str, path: &Path) -> Result<Task> {
    parse_task(text).map_err(|error| Error::Settings(format!("{}: {error}", path.display())))
}

/// The schedule with a name such as `switch-3`, of a list such as `sr-2way:8000,sr-4way-quadrant`, or of a schedule
/// file.
pub fn parse_schedule_arg(word: &str, base_steps: u64) -> Result<Schedule> {
    if is_list(word) {
        return schedule_from_list(word);
    }
    if !is_path(word) {
        return Ok(find_schedule(word, base_steps)?);
    }
    schedule_from_file(Path::new(word))
}

/// Whether an argument is a list of tasks, such as `sr-2way:8000,sr-4way-quadrant`. An existing file whose name
/// contains a comma is not a list.
fn is_list(word: &str) -> bool {
    word.contains(',') && !Path::new(word).is_file()
}

/// The tasks of a list, each with its number of steps if one is given.
fn listed(list: &str) -> Vec<(&str, Option<&str>)> {
    let parts = list.split(',').map(|part| match part.trim().rsplit_once(':') {
        Some((task, steps)) => (task, Some(steps)),
        None => (part.trim(), None),
    });
    parts.collect()
}

/// The last task continues indefinitely.
fn schedule_from_list(list: &str) -> Result<Schedule> {
    let parts = listed(list);
    let mut segments = Vec::new();
    for (idx, &(task, steps)) in parts.iter().enumerate() {
        let length = match steps {
            None if idx + 1 == parts.len() => Length::Unlimited,
            None => bail!(Settings, "`{task}`: how long? Write `{task}:8000` for 8000 steps"),
            Some(steps) if idx + 1 == parts.len() => bail!(
                Settings,
                "`{task}:{steps}`: the last task has no end; leave `:{steps}` out and say --steps for the whole run"
            ),
            Some(steps) => match steps.parse() {
                Ok(n_steps) => Length::Steps(n_steps),
                Err(_) => bail!(Settings, "`{task}:{steps}`: `{steps}` is not a number of steps"),
            },
        };
        segments.push(Segment { task: parse_task_arg(task)?, length });
    }
    let ids: Vec<&str> = segments.iter().map(|segment| segment.task.id()).collect();
    let mut id = ids.join("--");
    if id.len() > MAX_LIST_ID_CHARS {
        id = format!("{}--and-{}-more", ids[0], ids.len() - 1);
    }
    Ok(Schedule::new(id, segments, Repeats::No)?)
}

/// Lists are part of folder names.
const MAX_LIST_ID_CHARS: usize = 120;

/// Whether an argument is a schedule file, or a list that contains a task file.
pub fn names_a_file(word: &str) -> bool {
    match is_list(word) {
        true => listed(word).into_iter().any(|(task, _)| is_path(task)),
        false => is_path(word),
    }
}

/// Resolves the paths in a task or schedule relative to a folder.
pub fn resolve_relative_to(word: &str, folder: &Path) -> String {
    let file_beside = |word: &str| match is_path(word) && Path::new(word).is_relative() {
        true => folder.join(word).display().to_string(),
        false => word.to_owned(),
    };
    if !is_list(word) {
        return file_beside(word);
    }
    let beside = |(task, steps): (&str, Option<&str>)| {
        file_beside(task) + &steps.map_or_else(String::new, |steps| format!(":{steps}"))
    };
    listed(word).into_iter().map(beside).collect::<Vec<_>>().join(",")
}

/// Task files are resolved relative to the schedule file.
pub fn schedule_from_file(path: &Path) -> Result<Schedule> {
    let text = read_text(path)?;
    let folder = path.parent().unwrap_or(Path::new("."));
    let find = |word: &str| {
        let found = if is_path(word) { task_from_file(&folder.join(word)) } else { parse_task_arg(word) };
        found.map_err(|error| error.text())
    };
    parse_schedule(&text, find).map_err(|error| Error::Settings(format!("{}: {error}", path.display())))
}

/// Reads a text file of limited size. Task files have a few hundred bytes; a device could be infinite.
pub fn read_text(path: &Path) -> Result<String> {
    const MAX_BYTES: u64 = 4 << 20;
    let text = String::from_utf8(read_at_most(path, MAX_BYTES).at(path)?);
    text.map_err(|_| Error::Settings(format!("{}: it is not text", path.display())))
}

pub fn is_path(word: &str) -> bool {
    Path::new(word).extension().is_some_and(|extension| extension == "toml") || word.contains('/')
}

/// The kinds of images that tasks show, in addition to portraits.
pub fn needs_of<'a>(tasks: impl IntoIterator<Item = &'a Task>) -> Needs {
    tasks.into_iter().fold(Needs::PORTRAITS, |needs, task| match task.paradigm() {
        Paradigm::Localization => Needs { objects: true, ..needs },
        Paradigm::MatchToSample(MatchScreen::Scene) => Needs { scenes: true, ..needs },
        _ => needs,
    })
}
