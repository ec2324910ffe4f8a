//! The stream itself: screen out, touch in, reward out, for ever.
//!
//! The whole state is a few dozen bytes; images and tasks are shared. A clone of a stream is a fork of it: it
//! continues from there on its own.

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
    play: Play,
    /// Where the schedule began.
    origin: Origin,
    fingerprint: u64,
}

/// How a schedule is played, besides its source of images.
#[derive(Clone, Copy, Debug)]
struct Play {
    split: Split,
    seed: RunSeed,
    placements: PlacementChoice,
}

/// What lies before a schedule's first trial: nothing, or the stream that it continues.
#[derive(Clone, Copy, Debug, Default)]
struct Origin {
    trial_index: u64,
    n_steps: u64,
    n_switches: u64,
}

/// Where a stream is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Position {
    n_steps: u64,
    trial_index: u64,
    /// Counted along the schedule from 0, repeats included.
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
    #[error(
        "the snapshot is of a stream with another seed, split, schedule, pool of screens or source of images"
    )]
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
        let Position { segment_first_trial, trial_index, state, .. } = stream.position;
        let is_first_screen = trial_index == segment_first_trial && state.first_touch.is_none();
        let n_switches = stream.n_switches();
        (n_switches > 0 && is_first_screen).then_some(SwitchCue { n_switches })
    }
}

/// The task has just switched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SwitchCue {
    /// How many switches the stream has had, this one included.
    pub n_switches: u64,
}

/// The stream as an agent may know it: a screen, a touch, a reward, and nothing of tasks, trials or switches.
pub struct AgentView<'a> {
    stream: &'a mut Stream,
}

impl AgentView<'_> {
    /// Draws the present screen.
    pub fn draw(&self, screen: &mut Screen) -> Result<(), StimulusError> {
        self.stream.draw(screen)
    }

    /// What the present screen shows, for looking up features instead of drawing.
    pub fn recipe(&self) -> ScreenRecipe {
        self.stream.recipe()
    }

    /// Touches the present screen: answers with the reward and goes on to the next screen.
    pub fn touch(&mut self, touch: Touch) -> f32 {
        self.stream.touch(touch)
    }
}

impl Stream {
    /// What may be handed to an agent.
    pub fn agent_view(&mut self) -> AgentView<'_> {
        AgentView { stream: self }
    }

    /// Opens a stream at its first screen; match screens are drawn freely.
    pub fn open(
        schedule: Schedule,
        stimuli: Arc<dyn Stimuli>,
        split: Split,
        seed: RunSeed,
    ) -> Result<(Self, CueReader), BindError> {
        Self::open_with(schedule, stimuli, split, seed, PlacementChoice::Free)
    }

    /// Opens a stream at its first screen, and says which match screens there are.
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

    /// A second stream that goes on from here along another schedule: the next screen is the first of its first
    /// task, and is cued as a switch. A trial that is under way is left.
    ///
    /// So a base task is learned once and then switched to many others.
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

    /// Touches the present screen: answers with the reward and goes on to the next screen.
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

    /// Whether the next touch ends the trial, and so may earn something. For records; an agent must not read it.
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

    /// Goes to the first screen of a trial, without playing the trials before it. The schedule's segments before
    /// it are counted through, which takes some nanoseconds each.
    pub fn seek(&mut self, trial_index: u64) -> Result<(), OutOfReach> {
        let position = self.script.locate(trial_index).ok_or(OutOfReach { trial_index })?;
        self.trial = self.script.draw_trial(&position);
        self.position = position;
        Ok(())
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
        if !self.script.can_reach(&snapshot.position) {
            return Err(RestoreError::Damaged);
        }
        self.position = snapshot.position;
        self.trial = self.script.draw_trial(&self.position);
        Ok(())
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
        self.script.origin.n_switches + self.position.segment
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
        self.script.play.split
    }

    /// Which match screens there are.
    pub fn placements(&self) -> PlacementChoice {
        self.script.play.placements
    }
}

impl Script {
    /// Tasks that are already bound are taken from `known`.
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

    /// Starts the position's segment at the position's trial.
    fn enter_segment(&self, position: &mut Position) {
        let n_trials = self.schedule.n_trials(position.segment, self.play.seed);
        position.segment_first_trial = position.trial_index;
        position.segment_end_trial = n_trials.map(|n| position.trial_index + n);
    }

    /// The first screen of a trial; `None` before the schedule's first trial and beyond [`MAX_TRIALS`].
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

    /// Whether playing can lead to a position: it is where seeking its trial leads, perhaps one touch on.
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

/// No stream is played beyond this trial; at a million trials a second that takes 35 years.
const MAX_TRIALS: u64 = 1 << 50;

/// A trial that a stream cannot go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("trial {trial_index} is before the stream's first trial or beyond its last possible one")]
pub struct OutOfReach {
    /// The trial asked for.
    pub trial_index: u64,
}

/// Raised whenever the same seed, task and source would give other trials or rewards.
const STREAM_VERSION: u64 = 1;

/// 64 bits over everything that decides what a stream shows and rewards (FNV-1a); ids and titles do not.
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
    // Nothing for free placements, so that snapshots from before there were pools still fit.
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
