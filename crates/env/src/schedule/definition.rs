//! A schedule as data: a list of tasks, each with its length in steps.

use crate::seed::{RunSeed, StreamName};
use crate::task::Task;

const LENGTHS: StreamName = StreamName::new("schedule/segment-length");

/// Maximum length of a segment in steps.
pub const MAX_SEGMENT_STEPS: u64 = u32::MAX as u64;

/// A sequence of tasks, each for a number of steps. Made by [`Schedule::new`].
#[derive(Clone, Debug, PartialEq)]
pub struct Schedule {
    id: String,
    segments: Vec<Segment>,
    repeats: Repeats,
}

/// Whether a schedule starts over after its last segment. A stream never ends, so the last segment of a schedule that
/// does not repeat has no length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeats {
    /// The last segment continues indefinitely.
    No,
    /// The last segment is followed by the first.
    Yes,
}

/// One task of a schedule and its length.
#[derive(Clone, Debug, PartialEq)]
pub struct Segment {
    pub task: Task,
    pub length: Length,
}

/// The length of a segment in steps. Trials are always completed: a segment ends with the trial that reaches the
/// length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    Steps(u64),
    /// Drawn uniformly from `min..=max`, every time the segment is played.
    Between {
        min: u64,
        max: u64,
    },
    /// Indefinitely long. Only for the last segment of a schedule that does not repeat.
    Unlimited,
}

/// Why segments do not make a schedule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScheduleError {
    #[error("a schedule needs at least one segment")]
    Empty,
    /// The stream would end after the last segment.
    #[error(
        "the last segment of a schedule that does not repeat continues indefinitely: omit its length, or set `repeat`"
    )]
    Ends,
    #[error("segment {segment} has no length, so nothing after it would be reached")]
    NeverReached { segment: usize },
    /// A length of 0, above the maximum, or a range with `max < min`.
    #[error("segment {segment} lasts 1 to {MAX_SEGMENT_STEPS} steps, not {length}")]
    Length { segment: usize, length: String },
}

impl Schedule {
    /// Checks segments and makes a schedule of them.
    pub fn new(
        id: impl Into<String>,
        segments: Vec<Segment>,
        repeats: Repeats,
    ) -> Result<Self, ScheduleError> {
        let Some(last) = segments.last() else { return Err(ScheduleError::Empty) };
        if repeats == Repeats::No && last.length != Length::Unlimited {
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

    /// A schedule of one task, indefinitely.
    pub fn single(task: Task) -> Self {
        Self {
            id: task.id().into(),
            segments: vec![Segment { task, length: Length::Unlimited }],
            repeats: Repeats::No,
        }
    }

    /// The schedule's name, such as `switch-4`.
    pub fn id(&self) -> &str {
        &self.id
    }

    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Whether the schedule starts over after its last segment.
    pub fn repeats(&self) -> Repeats {
        self.repeats
    }

    /// The index in [`Schedule::segments`] of the `ordinal`-th segment to be played, repeats included.
    pub fn segment_idx(&self, ordinal: u64) -> usize {
        let n = self.segments.len() as u64;
        match self.repeats {
            Repeats::Yes => (ordinal % n) as usize,
            Repeats::No => ordinal.min(n - 1) as usize,
        }
    }

    /// The number of trials of the `ordinal`-th segment to be played; `None` if it never ends.
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
            Self::Unlimited => None,
        }
    }
}

impl std::fmt::Display for Length {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Steps(n) => write!(f, "{n} steps"),
            Self::Between { min, max } => write!(f, "{min} to {max} steps"),
            // This text is part of a stream's fingerprint.
            Self::Unlimited => f.write_str("for ever"),
        }
    }
}
