//! Reads and writes schedule files (TOML).

use crate::schedule::definition::{Length, Repeats, Schedule, ScheduleError, Segment};
use crate::task::language::quoted;
use crate::task::{Task, check_id};
use crate::toml_errors::{self, FileError};
use serde::Deserialize;
use std::fmt::Write;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ScheduleFile {
    id: String,
    #[serde(default)]
    repeat: bool,
    #[serde(default)]
    segment: Vec<SegmentTable>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SegmentTable {
    task: String,
    /// Omitted in a last segment that continues indefinitely.
    #[serde(default = "unlimited")]
    steps: StepsOrRange,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a number of steps (not negative) or a range of two numbers, [fewest, most]"
)]
enum StepsOrRange {
    Steps(u64),
    Range(u64, u64),
    Unlimited,
}

fn unlimited() -> StepsOrRange {
    StepsOrRange::Unlimited
}

/// Parses a schedule file. `find_task` turns the value of `task` into a task; it may read files, which this crate
/// does not. Errors name line and field.
pub fn parse_schedule(
    text: &str,
    mut find_task: impl FnMut(&str) -> Result<Task, String>,
) -> Result<Schedule, FileError> {
    let file: ScheduleFile = toml_errors::parse(text)?;
    check_id(&file.id).map_err(|error| toml_errors::error_at(text, &error.field, error.reason))?;
    let mut segments = Vec::new();
    for (idx, table) in file.segment.iter().enumerate() {
        let task = find_task(&table.task)
            .map_err(|reason| toml_errors::error_at(text, &format!("segment[{idx}].task"), reason))?;
        let length = match table.steps {
            StepsOrRange::Steps(n) => Length::Steps(n),
            StepsOrRange::Range(min, max) => Length::Between { min, max },
            StepsOrRange::Unlimited => Length::Unlimited,
        };
        segments.push(Segment { task, length });
    }
    let repeats = if file.repeat { Repeats::Yes } else { Repeats::No };
    let n_segments = segments.len();
    Schedule::new(file.id, segments, repeats).map_err(|error| {
        let field = match &error {
            ScheduleError::Empty => "segment".into(),
            ScheduleError::Ends => format!("segment[{}].steps", n_segments.saturating_sub(1)),
            ScheduleError::NeverReached { segment } | ScheduleError::Length { segment, .. } => {
                format!("segment[{segment}].steps")
            }
        };
        toml_errors::error_at(text, &field, error.to_string())
    })
}

impl Schedule {
    /// The text of a schedule file, which parses back to the same schedule. `task_value` returns the value of `task`
    /// for a task: an id, or the path of a task file.
    pub fn to_toml(&self, mut task_value: impl FnMut(&Task) -> String) -> String {
        let mut text = format!("id = {}\n", quoted(self.id()));
        if self.repeats() == Repeats::Yes {
            text.push_str("repeat = true\n");
        }
        for Segment { task, length } in self.segments() {
            let _ = write!(text, "\n[[segment]]\ntask = {}\n", quoted(&task_value(task)));
            let _ = match length {
                Length::Steps(n) => writeln!(text, "steps = {n}"),
                Length::Between { min, max } => writeln!(text, "steps = [{min}, {max}]"),
                Length::Unlimited => Ok(()),
            };
        }
        text
    }
}
