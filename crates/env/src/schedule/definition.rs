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
    repeats: Repeats,
}

/// Whether a schedule starts over after its last segment. A stream has no end: what does not repeat must end in a
/// segment that lasts for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeats {
    /// The last segment lasts for ever.
    No,
    /// After the last segment comes the first again.
    Yes,
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
    /// No end. Only for the last segment of a schedule that does not repeat.
    ForEver,
}

/// A schedule that cannot be played.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScheduleError {
    /// No task at all.
    #[error("a schedule needs at least one segment")]
    Empty,
    /// The stream would end.
    #[error(
        "the last segment of a schedule that does not repeat lasts for ever: leave its length out, or let it repeat"
    )]
    Ends,
    /// The rest would never be reached.
    #[error("segment {segment} has no length, so nothing after it would be reached")]
    NeverReached {
        /// Counted from 0.
        segment: usize,
    },
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
        repeats: Repeats,
    ) -> Result<Self, ScheduleError> {
        let Some(last) = segments.last() else { return Err(ScheduleError::Empty) };
        if repeats == Repeats::No && last.length != Length::ForEver {
            return Err(ScheduleError::Ends);
        }
        for (idx, segment) in segments.iter().enumerate() {
            let is_last = repeats == Repeats::No && idx + 1 == segments.len();
            match segment.length.extent() {
                None if !is_last => return Err(ScheduleError::NeverReached { segment: idx }),
                Some((min, max)) if min < 1 || max < min || max > MAX_SEGMENT_STEPS => {
                    return Err(ScheduleError::Length { segment: idx, length: segment.length.to_string() });
                }
                _ => {}
            }
        }
        Ok(Self { id: id.into(), segments, repeats })
    }

    /// One task for ever.
    pub fn single(task: Task) -> Self {
        Self {
            id: task.id().into(),
            segments: vec![Segment { task, length: Length::ForEver }],
            repeats: Repeats::No,
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

    /// Whether they start over.
    pub fn repeats(&self) -> Repeats {
        self.repeats
    }

    /// Which segment of the list is the `ordinal`-th to be played.
    pub fn segment_idx(&self, ordinal: u64) -> usize {
        let n = self.segments.len() as u64;
        match self.repeats {
            Repeats::Yes => (ordinal % n) as usize,
            Repeats::No => ordinal.min(n - 1) as usize,
        }
    }

    /// How many trials the `ordinal`-th segment lasts, for a run's seed; `None` is for ever.
    pub fn n_trials(&self, ordinal: u64, seed: RunSeed) -> Option<u64> {
        let segment = &self.segments[self.segment_idx(ordinal)];
        let (min, max) = segment.length.extent()?;
        let n_steps = if min == max {
            min
        } else {
            u64::from(seed.stream(LENGTHS, ordinal).between(min as u32, max as u32))
        };
        Some(n_steps.div_ceil(segment.task.steps_per_trial()))
    }
}

impl Length {
    fn extent(self) -> Option<(u64, u64)> {
        match self {
            Self::Steps(n) => Some((n, n)),
            Self::Between { min, max } => Some((min, max)),
            Self::ForEver => None,
        }
    }
}

impl std::fmt::Display for Length {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Steps(n) => write!(f, "{n} steps"),
            Self::Between { min, max } => write!(f, "{min} to {max} steps"),
            Self::ForEver => f.write_str("for ever"),
        }
    }
}
