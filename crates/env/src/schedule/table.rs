//! The paper's fifteen switches and the no-switch control (figure "Task switching with Dynamic Neural Voting").

use crate::nearest::{did_you_mean, nearest};
use crate::schedule::definition::{Length, Repeats, Schedule, Segment};
use crate::task::find_task;

/// A switch experiment of the paper: a base task, then a second task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedSchedule {
    /// `switch-1` to `switch-15`, or `no-switch`.
    pub id: &'static str,
    pub base: &'static str,
    pub switch: &'static str,
}

#[rustfmt::skip]
/// Every named schedule, in the paper's order.
pub const NAMED_SCHEDULES: [NamedSchedule; 16] = [
    NamedSchedule { id: "no-switch", base: "sr-2way",                         switch: "sr-2way" },
    NamedSchedule { id: "switch-1",  base: "sr-2way",                         switch: "sr-2way+new-classes" },
    NamedSchedule { id: "switch-2",  base: "sr-2way",                         switch: "sr-4way-double-binary" },
    NamedSchedule { id: "switch-3",  base: "mts-2way-stationary",             switch: "mts-2way-stationary+new-classes" },
    NamedSchedule { id: "switch-4",  base: "sr-2way",                         switch: "mts-2way-stationary" },
    NamedSchedule { id: "switch-5",  base: "mts-2way-stationary",             switch: "sr-2way" },
    NamedSchedule { id: "switch-6",  base: "mts-2way-stationary",             switch: "mts-2way-vert-motion-horiz-flip" },
    NamedSchedule { id: "switch-7",  base: "mts-2way-vert-motion-horiz-flip", switch: "mts-4way-2shown-vert-motion" },
    NamedSchedule { id: "switch-8",  base: "mts-4way-2shown-vert-motion",     switch: "mts-4way-4shown-permuted" },
    NamedSchedule { id: "switch-9",  base: "sr-4way-double-binary",           switch: "mts-4way-4shown-stationary" },
    NamedSchedule { id: "switch-10", base: "mts-4way-4shown-stationary",      switch: "sr-4way-quadrant" },
    NamedSchedule { id: "switch-11", base: "sr-2way",                         switch: "sr-4way-quadrant" },
    NamedSchedule { id: "switch-12", base: "sr-4way-double-binary",           switch: "sr-4way-quadrant" },
    NamedSchedule { id: "switch-13", base: "sr-2way",                         switch: "sr-2way+class-reversal" },
    NamedSchedule { id: "switch-14", base: "sr-2way",                         switch: "sr-2way+squeezed-map" },
    NamedSchedule { id: "switch-15", base: "sr-2way",                         switch: "sr-2way+rotation" },
];

/// Why there is no named schedule for an id and a length.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnknownSchedule {
    #[error("there is no schedule `{id}`{}", did_you_mean(*.nearest))]
    Name { id: String, nearest: Option<&'static str> },
    /// The id exists, but the schedule is invalid with this length.
    #[error("schedule `{id}`: {reason}")]
    Impossible { id: String, reason: String },
}

/// The named schedule `id`: `base_steps` steps of its base task, then its second task indefinitely.
pub fn find_schedule(id: &str, base_steps: u64) -> Result<Schedule, UnknownSchedule> {
    let row = NAMED_SCHEDULES.iter().find(|row| row.id == id).ok_or_else(|| UnknownSchedule::Name {
        id: id.into(),
        nearest: nearest(id, NAMED_SCHEDULES.iter().map(|row| row.id)),
    })?;
    row.schedule(base_steps).map_err(|reason| UnknownSchedule::Impossible { id: id.into(), reason })
}

impl NamedSchedule {
    fn schedule(&self, base_steps: u64) -> Result<Schedule, String> {
        let segment = |task_id: &str, length: Length| {
            let task = find_task(task_id).map_err(|error| error.to_string())?;
            Ok::<_, String>(Segment { task, length })
        };
        let segments =
            vec![segment(self.base, Length::Steps(base_steps))?, segment(self.switch, Length::Unlimited)?];
        Schedule::new(self.id, segments, Repeats::No).map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_a_valid_schedule() {
        for row in &NAMED_SCHEDULES {
            let schedule = find_schedule(row.id, 1000).unwrap();
            let ids: Vec<&str> = schedule.segments().iter().map(|segment| segment.task.id()).collect();
            assert_eq!(ids, [row.base, row.switch]);
        }
    }

    #[test]
    fn wrong_names_and_lengths_are_refused() {
        let message = |id, steps| find_schedule(id, steps).unwrap_err().to_string();
        assert_eq!(message("swich-3", 9), "there is no schedule `swich-3`; did you mean `switch-3`?");
        assert!(message("switch-3", 0).contains("segment 0 lasts 1 to"), "{}", message("switch-3", 0));
    }
}
