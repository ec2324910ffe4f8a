//! The paper's fifteen switches and the no-switch (figure "Task switching with Dynamic Neural Voting").

use crate::nearest::{did_you_mean, nearest};
use crate::schedule::definition::{Length, Repeats, Schedule, Segment};
use crate::task::find_task;

/// A base task, then another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedSchedule {
    /// `switch-1` to `switch-15`, or `no-switch`.
    pub id: &'static str,
    /// What is learned first.
    pub base: &'static str,
    /// What comes after the cue.
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

/// A name that no schedule has, or a length that none can have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnknownSchedule {
    /// No such name.
    #[error("there is no schedule `{id}`{}", did_you_mean(*.nearest))]
    Name {
        /// What was asked for.
        id: String,
        /// The nearest right one.
        nearest: Option<&'static str>,
    },
    /// Such a name, but the schedule cannot be made.
    #[error("schedule `{id}`: {reason}")]
    Impossible {
        /// What was asked for.
        id: String,
        /// Why not.
        reason: String,
    },
}

/// The schedule of a name: `base_steps` of the first task, then the second for ever.
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
            vec![segment(self.base, Length::Steps(base_steps))?, segment(self.switch, Length::ForEver)?];
        Schedule::new(self.id, segments, Repeats::No).map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_a_sound_schedule() {
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
