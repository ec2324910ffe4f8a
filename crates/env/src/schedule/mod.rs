//! Schedules: which task when. The agent is never told; only a controller is cued at a switch.

mod definition;
mod language;
mod table;

pub use definition::{AfterLast, Length, MAX_SEGMENT_STEPS, Schedule, ScheduleError, Segment};
pub use language::parse_schedule;
pub use table::{NAMED_SCHEDULES, NamedSchedule, UnknownSchedule, find_schedule};
