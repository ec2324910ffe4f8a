//! Schedules: which task is played when. Agents do not see the schedule; a controller only receives a cue at a switch.

mod definition;
mod language;
mod table;

pub use definition::{Length, MAX_SEGMENT_STEPS, Repeats, Schedule, ScheduleError, Segment};
pub use language::parse_schedule;
pub use table::{NAMED_SCHEDULES, NamedSchedule, UnknownSchedule, find_schedule};
