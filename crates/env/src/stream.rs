//! The stream: it shows a screen, takes a touch, returns a reward, indefinitely.
//!
//! A stream's own state is a few dozen bytes; images and tasks are shared. Clones continue independently.

use crate::reward_map::RewardMap;
use crate::schedule::{Repeats, Schedule};
use crate::screen::Screen;
use crate::seed::{RunSeed, StreamName};
use crate::stimuli::{Split, Stimuli, StimulusError};
use crate::task::TaskSpec;
use crate::touch::Touch;
use crate::trial::{BindError, BoundTask, PlacementChoice, ScreenRecipe, Trial, TrialState};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

const TRAIN_TRIALS: StreamName = StreamName::new("trial/train");
const VALIDATION_TRIALS: StreamName = StreamName::new("trial/validation");

/// The environment. At each step it shows a screen, takes one touch and returns one reward.
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

/// The constant part of a stream.
struct Script {
    schedule: Schedule,
    /// One per segment of the schedule; equal tasks share one.
    tasks: Vec<Arc<BoundTask>>,
    play: Play,
    /// Where the schedule starts.
    origin: Origin,
    fingerprint: u64,
}

/// How a schedule is played, except for its images.
#[derive(Clone, Copy, Debug)]
struct Play {
    split: Split,
    seed: RunSeed,
    placements: PlacementChoice,
}

/// The counters at the schedule's first trial: all 0, or those of the stream that it continues.
#[derive(Clone, Copy, Debug, Default)]
struct Origin {
    trial_index: u64,
    n_steps: u64,
    n_switches: u64,
}

/// The position of a stream in its schedule and trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Position {
    n_steps: u64,
    trial_index: u64,
    /// Index of the segment being played, from 0, repeats included.
    segment: u64,
    segment_first_trial: u64,
    /// First trial of the next segment; `None` if this one never ends.
    segment_end_trial: Option<u64>,
    state: TrialState,
}

/// The state of a stream as a value: take it with [`Stream::snapshot`], return to it with [`Stream::restore`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    fingerprint: u64,
    position: Position,
}

/// Why a snapshot cannot be restored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RestoreError {
    /// It was taken from another stream.
    #[error(
        "the snapshot belongs to a stream with another seed, split, schedule, placement pool or image source"
    )]
    Foreign,
    /// Its position cannot occur in this stream.
    #[error("the snapshot is damaged: its position does not fit its schedule")]
    Damaged,
}

/// Permission to read the switch cue. [`Stream::open`] returns it separately, so that it can be given to a controller
/// and withheld from an agent.
#[derive(Clone, Copy, Debug)]
pub struct CueReader {
    _only_from_open: (),
}

impl CueReader {
    /// `Some` on the first screen after a switch, `None` on all others.
    pub fn read(self, stream: &Stream) -> Option<SwitchCue> {
        let Position { segment_first_trial, trial_index, state, .. } = stream.position;
        let is_first_screen = trial_index == segment_first_trial && state.first_touch.is_none();
        let n_switches = stream.n_switches();
        (n_switches > 0 && is_first_screen).then_some(SwitchCue { n_switches })
    }
}

/// The signal that the task has just switched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SwitchCue {
    /// Number of switches so far, including this one.
    pub n_switches: u64,
}

/// The part of a stream that an agent may use: screens, touches and rewards, but not tasks, trials or switches.
pub struct AgentView<'a> {
    stream: &'a mut Stream,
}

impl AgentView<'_> {
    /// Draws the current screen.
    pub fn draw(&self, screen: &mut Screen) -> Result<(), StimulusError> {
        self.stream.draw(screen)
    }

    /// Identifies the current screen, for looking up its cached features instead of drawing it.
    pub fn recipe(&self) -> ScreenRecipe {
        self.stream.recipe()
    }

    /// Touches the current screen: returns the reward and advances to the next screen.
    pub fn touch(&mut self, touch: Touch) -> f32 {
        self.stream.touch(touch)
    }
}

impl Stream {
    /// The part of the stream that an agent may use.
    pub fn agent_view(&mut self) -> AgentView<'_> {
        AgentView { stream: self }
    }

    /// Opens a stream at its first screen; templates are placed freely.
    pub fn open(
        schedule: Schedule,
        stimuli: Arc<dyn Stimuli>,
        split: Split,
        seed: RunSeed,
    ) -> Result<(Self, CueReader), BindError> {
        Self::open_with(schedule, stimuli, split, seed, PlacementChoice::Free)
    }

    /// Opens a stream at its first screen, with a choice of match screens.
    pub fn open_with(
        schedule: Schedule,
        stimuli: Arc<dyn Stimuli>,
        split: Split,
        seed: RunSeed,
        placements: PlacementChoice,
    ) -> Result<(Self, CueReader), BindError> {
        let play = Play { split, seed, placements };
        let script = Script::new(schedule, &stimuli, play, Origin::default(), &[])?;
        Ok((Self::at_origin(script), CueReader { _only_from_open: () }))
    }

    /// A new stream that continues from here with another schedule: its next screen is the first of the new schedule
    /// and is cued as a switch. An unfinished trial is abandoned.
    ///
    /// With it, several second tasks can start from the same trained base task.
    pub fn continue_with(&self, schedule: Schedule) -> Result<Self, BindError> {
        let Position { n_steps, trial_index, state, .. } = self.position;
        let origin = Origin {
            trial_index: trial_index + u64::from(state.first_touch.is_some()),
            n_steps,
            n_switches: self.n_switches() + 1,
        };
        let Script { play, ref tasks, .. } = *self.script;
        let stimuli = self.bound_task().stimuli();
        Ok(Self::at_origin(Script::new(schedule, stimuli, play, origin, tasks)?))
    }

    fn at_origin(script: Script) -> Self {
        let position = script.start();
        let trial = script.draw_trial(&position);
        Self { script: Arc::new(script), position, trial }
    }

    /// Touches the current screen: returns the reward and advances to the next screen.
    pub fn touch(&mut self, touch: Touch) -> f32 {
        let reward = self.bound_task().reward(&self.trial, self.position.state, touch);
        let is_last_step = self.is_last_step();
        self.position.n_steps += 1;
        if is_last_step {
            self.next_trial();
        } else {
            self.position.state.first_touch = Some(touch);
        }
        reward
    }

    /// Whether the next touch ends the trial and so can earn a reward. For records; agents must not read it.
    pub fn is_last_step(&self) -> bool {
        self.bound_task().task().steps_per_trial() == 1 || self.position.state.first_touch.is_some()
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

    /// Draws the current screen.
    pub fn draw(&self, screen: &mut Screen) -> Result<(), StimulusError> {
        self.bound_task().draw(&self.trial, self.position.state, screen)
    }

    /// Identifies the current screen: equal recipes give equal pixels.
    pub fn recipe(&self) -> ScreenRecipe {
        self.bound_task().recipe(&self.trial, self.position.state)
    }

    /// The value of each of the 50,176 touches now: its reward or, before the first touch of localization, the highest
    /// IoU that a second touch can still reach. For figures and metrics; agents must not read it.
    pub fn reward_map(&self, map: &mut RewardMap) {
        self.bound_task().reward_map(&self.trial, self.position.state, map);
    }

    /// Jumps to the first screen of a trial without playing the trials before it. Costs a few nanoseconds per segment.
    pub fn seek(&mut self, trial_index: u64) -> Result<(), OutOfReach> {
        let position = self.script.locate(trial_index).ok_or(OutOfReach { trial_index })?;
        self.trial = self.script.draw_trial(&position);
        self.position = position;
        Ok(())
    }

    /// The complete state, for [`Stream::restore`].
    pub fn snapshot(&self) -> Snapshot {
        Snapshot { fingerprint: self.script.fingerprint, position: self.position }
    }

    /// Returns to a snapshot of this stream or of a clone of it.
    pub fn restore(&mut self, snapshot: &Snapshot) -> Result<(), RestoreError> {
        if snapshot.fingerprint != self.script.fingerprint {
            return Err(RestoreError::Foreign);
        }
        if !self.script.can_reach(&snapshot.position) {
            return Err(RestoreError::Damaged);
        }
        self.position = snapshot.position;
        self.trial = self.script.draw_trial(&self.position);
        Ok(())
    }

    /// Number of steps played.
    pub fn n_steps(&self) -> u64 {
        self.position.n_steps
    }

    /// Index of the current trial; trial index and seed determine what the trial shows.
    pub fn trial_index(&self) -> u64 {
        self.position.trial_index
    }

    /// Number of switches so far. For records; agents must not read it.
    pub fn n_switches(&self) -> u64 {
        self.script.origin.n_switches + self.position.segment
    }

    pub fn trial(&self) -> &Trial {
        &self.trial
    }

    /// The position within the current trial.
    pub fn trial_state(&self) -> TrialState {
        self.position.state
    }

    /// The current task. For records; agents must not read it.
    pub fn bound_task(&self) -> &BoundTask {
        self.script.task(self.position.segment)
    }

    /// The schedule being played.
    pub fn schedule(&self) -> &Schedule {
        &self.script.schedule
    }

    /// The split whose images are shown.
    pub fn split(&self) -> Split {
        self.script.play.split
    }

    /// How match screens are chosen.
    pub fn placements(&self) -> PlacementChoice {
        self.script.play.placements
    }
}

impl Script {
    /// Reuses tasks in `known` that are already bound.
    fn new(
        schedule: Schedule,
        stimuli: &Arc<dyn Stimuli>,
        play: Play,
        origin: Origin,
        known: &[Arc<BoundTask>],
    ) -> Result<Self, BindError> {
        let mut tasks: Vec<Arc<BoundTask>> = Vec::new();
        for segment in schedule.segments() {
            let bound = known.iter().chain(&tasks).find(|bound| *bound.task() == segment.task).cloned();
            tasks.push(match bound {
                Some(bound) => bound,
                None => {
                    let (task, stimuli) = (segment.task.clone(), Arc::clone(stimuli));
                    Arc::new(BoundTask::with_placements(task, stimuli, play.split, play.placements)?)
                }
            });
        }
        let fingerprint = fingerprint(&schedule, stimuli.as_ref(), play, origin);
        Ok(Self { schedule, tasks, play, origin, fingerprint })
    }

    fn task(&self, segment: u64) -> &BoundTask {
        &self.tasks[self.schedule.segment_idx(segment)]
    }

    fn draw_trial(&self, position: &Position) -> Trial {
        let name = match self.play.split {
            Split::Train => TRAIN_TRIALS,
            Split::Validation => VALIDATION_TRIALS,
        };
        self.task(position.segment).draw_trial(&mut self.play.seed.stream(name, position.trial_index))
    }

    /// The schedule's first screen.
    fn start(&self) -> Position {
        let mut position = Position {
            n_steps: self.origin.n_steps,
            trial_index: self.origin.trial_index,
            segment: 0,
            segment_first_trial: 0,
            segment_end_trial: None,
            state: TrialState::default(),
        };
        self.enter_segment(&mut position);
        position
    }

    /// Begins the position's segment at the position's trial.
    fn enter_segment(&self, position: &mut Position) {
        let n_trials = self.schedule.n_trials(position.segment, self.play.seed);
        position.segment_first_trial = position.trial_index;
        position.segment_end_trial = n_trials.map(|n| position.trial_index + n);
    }

    /// The first screen of a trial; `None` before the schedule's first trial and from [`MAX_TRIALS`] on.
    fn locate(&self, trial_index: u64) -> Option<Position> {
        if !(self.origin.trial_index..MAX_TRIALS).contains(&trial_index) {
            return None;
        }
        let mut position = self.start();
        while let Some(end) = position.segment_end_trial.filter(|&end| end <= trial_index) {
            position.n_steps += (end - position.trial_index) * self.steps_per_trial(position.segment);
            position.trial_index = end;
            position.segment += 1;
            self.enter_segment(&mut position);
        }
        position.n_steps += (trial_index - position.trial_index) * self.steps_per_trial(position.segment);
        position.trial_index = trial_index;
        Some(position)
    }

    fn steps_per_trial(&self, segment: u64) -> u64 {
        self.task(segment).task().steps_per_trial()
    }

    /// Whether a position can occur: it equals the position found by seeking its trial, plus at most one touch.
    fn can_reach(&self, position: &Position) -> bool {
        let is_second_step = position.state.first_touch.is_some();
        let may_be_second = self.steps_per_trial(position.segment) == 2;
        let first_screen = Position {
            n_steps: position.n_steps.wrapping_sub(u64::from(is_second_step)),
            state: TrialState::default(),
            ..*position
        };
        (may_be_second || !is_second_step) && self.locate(position.trial_index) == Some(first_screen)
    }
}

/// Streams end here in theory; at a million trials per second it takes 35 years.
const MAX_TRIALS: u64 = 1 << 50;

/// Why a trial cannot be sought.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("trial {trial_index} is before the stream's first trial or beyond its last possible one")]
pub struct OutOfReach {
    pub trial_index: u64,
}

/// Must be raised whenever the same seed, task and source would give other trials or rewards.
const STREAM_VERSION: u64 = 1;

/// A 64-bit FNV-1a hash of everything that determines what a stream shows and rewards; excludes ids and titles.
fn fingerprint(schedule: &Schedule, stimuli: &dyn Stimuli, play: Play, origin: Origin) -> u64 {
    let Play { split, seed, placements } = play;
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut eat = |bytes: &[u8]| {
        for &byte in bytes {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    eat(&stimuli.content_hash().0);
    eat(split.name().as_bytes());
    let numbers = [STREAM_VERSION, seed.0, origin.trial_index, origin.n_steps, origin.n_switches];
    numbers.iter().for_each(|number| eat(&number.to_le_bytes()));
    eat(&[u8::from(schedule.repeats() == Repeats::Yes)]);
    // Nothing is added for free placements, so older snapshots remain valid.
    if let PlacementChoice::Pool(pool) = placements {
        eat(b"pool");
        eat(&pool.n.get().to_le_bytes());
        eat(&pool.seed.to_le_bytes());
    }
    for segment in schedule.segments() {
        let rules = TaskSpec { id: "-".into(), title: "-".into(), ..segment.task.spec().clone() };
        eat(segment.length.to_string().as_bytes());
        eat(rules.to_toml().as_bytes());
    }
    hash
}
