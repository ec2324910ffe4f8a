//! The stream itself: screen out, touch in, reward out, for ever.
//!
//! The whole state is a few dozen bytes; images and tasks are shared. A copy of a stream is a fork of it.

use crate::reward_map::RewardMap;
use crate::schedule::Schedule;
use crate::screen::Screen;
use crate::seed::{RunSeed, StreamName};
use crate::stimuli::{Split, Stimuli, StimulusError};
use crate::task::Task;
use crate::touch::Touch;
use crate::trial::{BindError, BoundTask, ScreenRecipe, Trial, TrialState};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

const TRAIN_TRIALS: StreamName = StreamName::new("trial/train");
const VALIDATION_TRIALS: StreamName = StreamName::new("trial/validation");

/// A TouchStream. At each step it shows a screen, takes one touch and answers with one reward.
///
/// ```
/// # use touchstream_env::{stimuli::Split, seed::RunSeed, schedule::Schedule, stream::Stream, task::find_task};
/// # use touchstream_env::{plain_stimuli::PlainStimuli, screen::Screen, touch::Touch};
/// let schedule = Schedule::single(find_task("sr-2way")?);
/// let stimuli = std::sync::Arc::new(PlainStimuli::new(2));
/// let (mut stream, _cues) = Stream::open(schedule, stimuli, Split::Train, RunSeed(1))?;
/// let mut screen = Screen::grey();
/// for _ in 0..10 {
///     stream.draw(&mut screen)?;
///     let reward = stream.touch(Touch::new(100, 30)?);
///     assert!(reward == 0.0 || reward == 1.0);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Stream {
    script: Arc<Script>,
    position: Position,
    trial: Trial,
}

/// What never changes while a stream is played.
struct Script {
    schedule: Schedule,
    /// One for each segment of the schedule; equal tasks are bound once.
    tasks: Vec<Arc<BoundTask>>,
    split: Split,
    seed: RunSeed,
    fingerprint: u64,
}

/// Where a stream is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Position {
    n_steps: u64,
    trial_index: u64,
    segment: u64,
    segment_first_trial: u64,
    /// The first trial of the next segment; `None` if this one never ends.
    segment_end_trial: Option<u64>,
    state: TrialState,
}

/// The state of a stream as a value: take it with [`Stream::snapshot`], go back with [`Stream::restore`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    fingerprint: u64,
    position: Position,
}

/// A snapshot that a stream cannot go back to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RestoreError {
    /// Taken from another stream.
    #[error("the snapshot is of a stream with another seed, split, schedule or source of images")]
    Foreign,
    /// Not a state that this stream can ever be in.
    #[error("the snapshot is damaged: its position does not fit its schedule")]
    Damaged,
}

/// The right to know that the task has switched. Whoever opens a stream gets it, and hands it to a controller
/// or to nobody; the stream itself never tells.
#[derive(Clone, Copy, Debug)]
pub struct CueReader {
    _only_from_open: (),
}

impl CueReader {
    /// The switch cue: `Some` on the first screen after a switch, `None` on all others.
    pub fn read(self, stream: &Stream) -> Option<SwitchCue> {
        let Position { segment, segment_first_trial, trial_index, state, .. } = stream.position;
        let is_first_screen = trial_index == segment_first_trial && state.first_touch.is_none();
        (segment > 0 && is_first_screen).then_some(SwitchCue { n_switches: segment })
    }
}

/// The task has just switched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SwitchCue {
    /// How many switches the stream has had, this one included.
    pub n_switches: u64,
}

impl Stream {
    /// Opens a stream at its first screen.
    pub fn open(
        schedule: Schedule,
        stimuli: Arc<dyn Stimuli>,
        split: Split,
        seed: RunSeed,
    ) -> Result<(Self, CueReader), BindError> {
        let mut tasks: Vec<Arc<BoundTask>> = Vec::new();
        for segment in schedule.segments() {
            let known = tasks.iter().find(|bound| *bound.task() == segment.task).cloned();
            tasks.push(match known {
                Some(bound) => bound,
                None => Arc::new(BoundTask::new(segment.task.clone(), Arc::clone(&stimuli), split)?),
            });
        }
        let fingerprint = fingerprint(&schedule, stimuli.as_ref(), split, seed);
        let script = Arc::new(Script { schedule, tasks, split, seed, fingerprint });
        let position = Position {
            n_steps: 0,
            trial_index: 0,
            segment: 0,
            segment_first_trial: 0,
            segment_end_trial: script.schedule.n_trials(0, seed),
            state: TrialState::default(),
        };
        let trial = script.draw_trial(&position);
        Ok((Self { script, position, trial }, CueReader { _only_from_open: () }))
    }

    /// Touches the present screen: answers with the reward and goes on to the next screen.
    pub fn touch(&mut self, touch: Touch) -> f32 {
        let task = self.bound_task();
        let reward = task.reward(&self.trial, self.position.state, touch);
        let is_last_step = task.task().steps_per_trial() == 1 || self.position.state.first_touch.is_some();
        self.position.n_steps += 1;
        if is_last_step {
            self.next_trial();
        } else {
            self.position.state.first_touch = Some(touch);
        }
        reward
    }

    fn next_trial(&mut self) {
        let position = &mut self.position;
        position.state = TrialState::default();
        position.trial_index += 1;
        if position.segment_end_trial == Some(position.trial_index) {
            position.segment += 1;
            self.script.enter_segment(position);
        }
        self.trial = self.script.draw_trial(position);
    }

    /// Draws the present screen.
    pub fn draw(&self, screen: &mut Screen) -> Result<(), StimulusError> {
        self.bound_task().draw(&self.trial, self.position.state, screen)
    }

    /// What the present screen shows: equal recipes are equal screens.
    pub fn recipe(&self) -> ScreenRecipe {
        self.bound_task().recipe(&self.trial, self.position.state)
    }

    /// What each of the 50,176 touches is worth now: its reward or, before the first corner of localization,
    /// the best overlap that a second touch can still reach. For figures and metrics; the agent never sees it.
    pub fn reward_map(&self, map: &mut RewardMap) {
        self.bound_task().reward_map(&self.trial, self.position.state, map);
    }

    /// Goes to the first screen of a trial, without playing the trials before it.
    pub fn seek(&mut self, trial_index: u64) {
        let script = Arc::clone(&self.script);
        let mut position = Position { n_steps: 0, trial_index: 0, segment: 0, ..self.position };
        script.enter_segment(&mut position);
        loop {
            let steps_per_trial = script.task(position.segment).task().steps_per_trial();
            match position.segment_end_trial {
                Some(end) if end <= trial_index => {
                    position.n_steps += (end - position.segment_first_trial) * steps_per_trial;
                    position.trial_index = end;
                    position.segment += 1;
                    script.enter_segment(&mut position);
                }
                _ => {
                    position.n_steps += (trial_index - position.segment_first_trial) * steps_per_trial;
                    position.trial_index = trial_index;
                    break;
                }
            }
        }
        position.state = TrialState::default();
        self.trial = script.draw_trial(&position);
        self.position = position;
    }

    /// The whole state, to come back to.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot { fingerprint: self.script.fingerprint, position: self.position }
    }

    /// Goes back to a snapshot of this stream or of a fork of it.
    pub fn restore(&mut self, snapshot: &Snapshot) -> Result<(), RestoreError> {
        if snapshot.fingerprint != self.script.fingerprint {
            return Err(RestoreError::Foreign);
        }
        if !self.script.is_sound(&snapshot.position) {
            return Err(RestoreError::Damaged);
        }
        self.position = snapshot.position;
        self.trial = self.script.draw_trial(&self.position);
        Ok(())
    }

    /// A second stream that continues from here on its own. The same as `clone`.
    pub fn fork(&self) -> Self {
        self.clone()
    }

    /// Steps played.
    pub fn n_steps(&self) -> u64 {
        self.position.n_steps
    }

    /// The present trial's number; it alone, with the seed, decides what is shown and asked.
    pub fn trial_index(&self) -> u64 {
        self.position.trial_index
    }

    /// How many switches lie behind. For records; an agent must not read it, a controller has its cue.
    pub fn n_switches(&self) -> u64 {
        self.position.segment
    }

    /// The present trial.
    pub fn trial(&self) -> &Trial {
        &self.trial
    }

    /// Where in the trial the agent stands.
    pub fn trial_state(&self) -> TrialState {
        self.position.state
    }

    /// The present task. For records; an agent must not read it.
    pub fn bound_task(&self) -> &BoundTask {
        self.script.task(self.position.segment)
    }

    /// The schedule being played.
    pub fn schedule(&self) -> &Schedule {
        &self.script.schedule
    }

    /// Which images are shown.
    pub fn split(&self) -> Split {
        self.script.split
    }
}

impl Script {
    fn task(&self, segment: u64) -> &BoundTask {
        &self.tasks[self.schedule.segment_idx(segment)]
    }

    fn draw_trial(&self, position: &Position) -> Trial {
        let name = match self.split {
            Split::Train => TRAIN_TRIALS,
            Split::Validation => VALIDATION_TRIALS,
        };
        self.task(position.segment).draw_trial(&mut self.seed.stream(name, position.trial_index))
    }

    /// Starts the position's segment at the position's trial.
    fn enter_segment(&self, position: &mut Position) {
        let n_trials = self.schedule.n_trials(position.segment, self.seed);
        position.segment_first_trial = position.trial_index;
        position.segment_end_trial = n_trials.map(|n| position.trial_index + n);
    }

    fn is_sound(&self, position: &Position) -> bool {
        let n_trials = self.schedule.n_trials(position.segment, self.seed);
        let expected_end = n_trials.and_then(|n| position.segment_first_trial.checked_add(n));
        let can_be_second = self.task(position.segment).task().steps_per_trial() == 2;
        position.segment_end_trial == expected_end
            && n_trials.is_some() == expected_end.is_some()
            && position.segment_first_trial <= position.trial_index
            && expected_end.is_none_or(|end| position.trial_index < end)
            && (position.state.first_touch.is_none() || can_be_second)
            && (position.segment as usize) <= self.last_segment()
    }

    /// The largest segment ordinal that can occur.
    fn last_segment(&self) -> usize {
        match self.schedule.after_last() {
            crate::schedule::AfterLast::Stay => self.schedule.segments().len() - 1,
            crate::schedule::AfterLast::Repeat => usize::MAX,
        }
    }
}

/// 64 bits over everything that decides what a stream shows and rewards (FNV-1a).
fn fingerprint(schedule: &Schedule, stimuli: &dyn Stimuli, split: Split, seed: RunSeed) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut eat = |bytes: &[u8]| {
        for &byte in bytes {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    eat(&stimuli.content_hash().0);
    eat(split.name().as_bytes());
    eat(&seed.0.to_le_bytes());
    eat(format!("{:?}", schedule.after_last()).as_bytes());
    for segment in schedule.segments() {
        eat(segment.length.to_string().as_bytes());
        eat(Task::to_toml(&segment.task).as_bytes());
    }
    hash
}
