//! A schedule as data: a list of tasks, each with how long it lasts.

use crate::seed::{RunSeed, StreamName};
use crate::task::Task;

const LENGTHS: StreamName = StreamName::new("schedule/segment-length");

/// The longest stretch of one task that a schedule can ask for.
pub const MAX_SEGMENT_STEPS: u64 = u32::MAX as u64;

/// Tasks in an order, each for a number of steps. Made by [`Schedule::new`].
#[derive(Clone, Debug, PartialEq)]
pub struct Schedule {
    id: String,
    segments: Vec<Segment>,
    after_last: AfterLast,
}

/// One task for a while.
#[derive(Clone, Debug, PartialEq)]
pub struct Segment {
    /// The task.
    pub task: Task,
    /// For how long.
    pub length: Length,
}

/// How long a segment lasts, in steps. A trial is never cut: a segment ends with the trial in which its steps
/// are used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// So many.
    Steps(u64),
    /// Drawn uniformly every time, both ends possible.
    Between {
        /// The fewest.
        min: u64,
        /// The most.
        max: u64,
    },
}

/// What comes after the last segment: a stream has no end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterLast {
    /// The last task goes on for ever.
    Stay,
    /// The list starts over.
    Repeat,
}

/// A schedule that cannot be played.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScheduleError {
    /// No task at all.
    #[error("a schedule needs at least one segment")]
    Empty,
    /// A length of nothing, too much, or the wrong way round.
    #[error("segment {segment} lasts 1 to {MAX_SEGMENT_STEPS} steps, not {length}")]
    Length {
        /// Counted from 0.
        segment: usize,
        /// What was asked for.
        length: String,
    },
}

impl Schedule {
    /// A schedule of its segments.
    pub fn new(
        id: impl Into<String>,
        segments: Vec<Segment>,
        after_last: AfterLast,
    ) -> Result<Self, ScheduleError> {
        if segments.is_empty() {
            return Err(ScheduleError::Empty);
        }
        for (idx, segment) in segments.iter().enumerate() {
            let (min, max) = segment.length.extent();
            if min < 1 || max < min || max > MAX_SEGMENT_STEPS {
                return Err(ScheduleError::Length { segment: idx, length: segment.length.to_string() });
            }
        }
        Ok(Self { id: id.into(), segments, after_last })
    }

    /// One task for ever.
    pub fn single(task: Task) -> Self {
        Self {
            id: task.id().into(),
            segments: vec![Segment { task, length: Length::Steps(MAX_SEGMENT_STEPS) }],
            after_last: AfterLast::Stay,
        }
    }

    /// The schedule's name.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The segments, in order.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// What comes after them.
    pub fn after_last(&self) -> AfterLast {
        self.after_last
    }

    /// Which segment of the list is the `ordinal`-th to be played.
    pub fn segment_idx(&self, ordinal: u64) -> usize {
        match self.after_last {
            AfterLast::Repeat => (ordinal % self.segments.len() as u64) as usize,
            AfterLast::Stay => (ordinal as usize).min(self.segments.len() - 1),
        }
    }

    /// How many trials the `ordinal`-th segment lasts, for a run's seed; `None` is for ever.
    pub fn n_trials(&self, ordinal: u64, seed: RunSeed) -> Option<u64> {
        let idx = self.segment_idx(ordinal);
        if self.after_last == AfterLast::Stay && idx + 1 == self.segments.len() {
            return None;
        }
        let segment = &self.segments[idx];
        let (min, max) = segment.length.extent();
        let n_steps = if min == max {
            min
        } else {
            u64::from(seed.stream(LENGTHS, ordinal).between(min as u32, max as u32))
        };
        Some(n_steps.div_ceil(segment.task.steps_per_trial()))
    }
}

impl Length {
    fn extent(self) -> (u64, u64) {
        match self {
            Self::Steps(n) => (n, n),
            Self::Between { min, max } => (min, max),
        }
    }
}

impl std::fmt::Display for Length {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Steps(n) => write!(f, "{n}"),
            Self::Between { min, max } => write!(f, "{min} to {max}"),
        }
    }
}
