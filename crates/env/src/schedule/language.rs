//! The language of schedule files: TOML, read and written.

use crate::schedule::definition::{Length, Repeats, Schedule, ScheduleError, Segment};
use crate::task::language::quoted;
use crate::task::{Task, check_id};
use crate::toml_place::{self, FileError};
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::fmt::{self, Write};

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
    /// Left out where the last task goes on for ever.
    #[serde(default = "for_ever", deserialize_with = "length")]
    steps: Length,
}

fn for_ever() -> Length {
    Length::ForEver
}

/// The schedule of a schedule file's text. `find_task` turns the word behind `task` into a task; it may look
/// into files, this crate does not. Errors name line and field.
pub fn parse_schedule(
    text: &str,
    mut find_task: impl FnMut(&str) -> Result<Task, String>,
) -> Result<Schedule, FileError> {
    let file: ScheduleFile = toml_place::parse(text)?;
    check_id(&file.id).map_err(|error| toml_place::error_at(text, &error.field, error.reason))?;
    let mut segments = Vec::new();
    for (idx, table) in file.segment.iter().enumerate() {
        let task = find_task(&table.task)
            .map_err(|reason| toml_place::error_at(text, &format!("segment[{idx}].task"), reason))?;
        segments.push(Segment { task, length: table.steps });
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
        toml_place::error_at(text, &field, error.to_string())
    })
}

impl Schedule {
    /// The schedule as the text of a schedule file, which parses back to the same schedule. `word_of` says what stands
    /// behind `task`.
    pub fn to_toml(&self, mut word_of: impl FnMut(&Task) -> String) -> String {
        let mut text = format!("id = {}\n", quoted(self.id()));
        if self.repeats() == Repeats::Yes {
            text.push_str("repeat = true\n");
        }
        for Segment { task, length } in self.segments() {
            let _ = write!(text, "\n[[segment]]\ntask = {}\n", quoted(&word_of(task)));
            let _ = match length {
                Length::Steps(n) => writeln!(text, "steps = {n}"),
                Length::Between { min, max } => writeln!(text, "steps = [{min}, {max}]"),
                Length::ForEver => Ok(()),
            };
        }
        text
    }
}

fn length<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Length, D::Error> {
    struct StepsOrRange;
    impl<'de> Visitor<'de> for StepsOrRange {
        type Value = Length;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a number of steps or a range [fewest, most]")
        }
        fn visit_i64<E: Error>(self, n: i64) -> Result<Length, E> {
            u64::try_from(n).map(Length::Steps).map_err(|_| E::custom("a number of steps is not negative"))
        }
        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Length, A::Error> {
            let two = "a range is two numbers, [fewest, most]";
            let min = seq.next_element()?.ok_or_else(|| A::Error::custom(two))?;
            let max = seq.next_element()?.ok_or_else(|| A::Error::custom(two))?;
            match seq.next_element::<u64>()? {
                None => Ok(Length::Between { min, max }),
                Some(_) => Err(A::Error::custom(two)),
            }
        }
    }
    deserializer.deserialize_any(StepsOrRange)
}
