//! The conformance suite: a test that every task on every image source must pass, built-in or your own.

use crate::reward_map::RewardMap;
use crate::schedule::Schedule;
use crate::screen::Screen;
use crate::seed::{RandomStream, RunSeed, StreamName};
use crate::stimuli::{ClassIdx, ImageId, Split, Stimuli, StimulusError};
use crate::stream::Stream;
use crate::task::{Basis, MatchScreen, Paradigm, Task};
use crate::touch::{N_TOUCHES, SCREEN_SIDE_PX, Touch};
use crate::trial::{BindError, Placement, PlacementChoice, ScreenRecipe, Trial};
use std::collections::HashMap;
use std::sync::Arc;

/// Number of screens over which the exact chance level is computed, where it depends on the images.
const N_EXACT_SCREENS: usize = 32;

const TOUCHES: StreamName = StreamName::new("conformance/touches");

/// How thoroughly to test.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Trials played on each split.
    pub n_trials: u64,
    /// Screens drawn on each split, spread over the trials.
    pub n_screens: u64,
    /// Reward maps compared touch by touch on each split, spread over the trials.
    pub n_maps: u64,
}

impl Effort {
    /// Takes a few seconds at most.
    pub const QUICK: Self = Self { n_trials: 400, n_screens: 20, n_maps: 20 };
}

/// How much was tested, if the whole contract holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passed {
    /// Steps played, over both splits.
    pub n_steps: u64,
    /// Screens drawn twice and compared.
    pub n_screens: u64,
    /// Reward maps compared with rewards, all 50,176 touches each.
    pub n_maps: u64,
}

/// The first part of the contract that does not hold.
#[derive(Debug, thiserror::Error)]
pub enum Violation {
    /// The task cannot be played on this source.
    #[error(transparent)]
    Bind(#[from] BindError),
    #[error("a screen could not be drawn: {0}")]
    Draw(#[from] StimulusError),
    /// Any other violation; `what` describes it.
    #[error("{split} split, trial {trial}: {what}")]
    Broken { split: Split, trial: u64, what: String },
}

/// Plays a task on both splits of a source and checks the whole contract:
///
/// - rewards are in [0, 1], sample screens and first corners earn 0
/// - the reward map's value at a touch is the reward of that touch; before the first touch of localization it is the
///   highest reward that the second touch can earn
/// - the reward belongs to the class that is shown: its region, its template, its instances, its box
/// - templates are on the screen, each class once, the sample's among them
/// - two streams with the same seed show the same screens and give the same rewards; another seed does not
/// - a clone continues identically, and a stream can be restored from a snapshot
/// - trial *n* is the same whether reached by playing or by seeking
/// - equal recipes give equal pixels, also when drawn twice, and screens only show images of their own split
/// - no touch earns more than the map's maximum; averaged over the trials, the maps' means equal the exact chance
///   level and their maxima the exact best reward
pub fn check_task(
    task: &Task,
    stimuli: &Arc<dyn Stimuli>,
    seed: RunSeed,
    effort: Effort,
) -> Result<Passed, Violation> {
    check_task_with(task, stimuli, PlacementChoice::Free, seed, effort)
}

/// Like [`check_task`], with a choice of match screens.
pub fn check_task_with(
    task: &Task,
    stimuli: &Arc<dyn Stimuli>,
    placements: PlacementChoice,
    seed: RunSeed,
    effort: Effort,
) -> Result<Passed, Violation> {
    let mut passed = Passed { n_steps: 0, n_screens: 0, n_maps: 0 };
    for split in Split::ALL {
        let open = |seed| {
            let schedule = Schedule::single(task.clone());
            Stream::open_with(schedule, Arc::clone(stimuli), split, seed, placements)
        };
        let (stream, _) = open(seed)?;
        let (twin, _) = open(seed)?;
        let (stranger, _) = open(RunSeed(!seed.0))?;
        let mut exam = Exam {
            split,
            effort,
            touches: seed.stream(TOUCHES, split as u64),
            map: RewardMap::zeros(),
            map_after: RewardMap::zeros(),
            screen: Screen::grey(),
            screen_again: Screen::grey(),
            seen: HashMap::new(),
            stream,
            twin,
            map_means: Vec::new(),
            map_bests: Vec::new(),
        };
        exam.run(&mut passed)?;
        exam.seeking_is_playing()?;
        exam.another_seed_differs(stranger)?;
        exam.chance_and_best_are_exact()?;
    }
    Ok(passed)
}

struct Exam {
    split: Split,
    effort: Effort,
    touches: RandomStream,
    map: RewardMap,
    map_after: RewardMap,
    screen: Screen,
    screen_again: Screen,
    /// Checksums of the screens drawn so far.
    seen: HashMap<ScreenRecipe, u64>,
    stream: Stream,
    twin: Stream,
    /// For the last screen of each trial: the expected reward of a uniform touch, and the highest reward.
    map_means: Vec<f64>,
    map_bests: Vec<f64>,
}

impl Exam {
    fn broken(&self, what: impl Into<String>) -> Violation {
        Violation::Broken { split: self.split, trial: self.stream.trial_index(), what: what.into() }
    }

    fn ensure(&self, holds: bool, what: impl FnOnce() -> String) -> Result<(), Violation> {
        if holds { Ok(()) } else { Err(self.broken(what())) }
    }

    fn run(&mut self, passed: &mut Passed) -> Result<(), Violation> {
        let Effort { n_trials, n_screens, n_maps } = self.effort;
        let is_due =
            |trial: u64, n_wanted: u64| n_wanted > 0 && trial.is_multiple_of((n_trials / n_wanted).max(1));
        while self.stream.trial_index() < n_trials {
            let trial = self.stream.trial_index();
            self.trial_is_sound()?;
            if is_due(trial, n_screens) {
                self.screen_is_reproducible()?;
                passed.n_screens += 1;
            }
            if is_due(trial, n_maps) {
                self.map_is_exact()?;
                passed.n_maps += 1;
            }
            if is_due(trial, n_maps.max(n_screens)) {
                self.fork_and_snapshot_continue()?;
            }
            self.step()?;
            passed.n_steps += 1;
        }
        Ok(())
    }

    /// One step of stream and twin with the same uniform touch.
    fn step(&mut self) -> Result<(), Violation> {
        let touch = Touch::uniform(&mut self.touches);
        let is_last_step = self.stream.is_last_step();
        let n_steps = self.stream.n_steps();
        let best = self.record_map(is_last_step);
        let reward = self.stream.touch(touch);
        let twin_reward = self.twin.touch(touch);
        self.ensure(self.stream.n_steps() == n_steps + 1, || "a touch is not one step".into())?;
        self.ensure((0.0..=1.0).contains(&reward), || format!("reward {reward} is not in [0, 1]"))?;
        self.ensure(reward <= best, || match is_last_step {
            true => format!("a touch earned {reward}, more than the best of its map, {best}"),
            false => format!("the first of two screens earned {reward}"),
        })?;
        self.ensure(
            reward.to_bits() == twin_reward.to_bits()
                && self.stream.snapshot() == self.twin.snapshot()
                && self.stream.trial() == self.twin.trial(),
            || "two copies with one seed went apart".into(),
        )
    }

    /// Records mean and maximum of the current map; returns the highest reward that a touch can earn now.
    fn record_map(&mut self, is_last_step: bool) -> f32 {
        let is_localization = matches!(self.stream.trial(), Trial::Localization { .. });
        // For localization, the map before the first touch shows the best reward of the trial; computing it takes
        // milliseconds, so only every 16th trial does.
        let is_wanted = is_localization && self.stream.trial_index().is_multiple_of(16);
        if is_last_step || is_wanted {
            self.stream.reward_map(&mut self.map);
        }
        if (is_last_step && !is_localization) || (is_wanted && !is_last_step) {
            self.map_bests.push(f64::from(self.map.best()));
        }
        if !is_last_step {
            return 0.0;
        }
        // Also unbiased for localization: the first touch was uniform, so over the trials both touches are.
        self.map_means.push(self.map.mean());
        self.map.best()
    }

    fn trial_is_sound(&self) -> Result<(), Violation> {
        let bound = self.stream.bound_task();
        let class_of = |image: ImageId| match image {
            ImageId::Portrait { class, .. } => Some(class),
            ImageId::Object { index } => Some(bound.stimuli().object(self.split, index).class),
            ImageId::Scene { .. } => None,
        };
        let position = |class: ClassIdx| bound.classes().iter().position(|&of_task| of_task == class);
        let expected_class = |shown: Option<ClassIdx>| {
            shown.and_then(position).map(|shown| bound.task().rewarded_class(shown, bound.classes().len()))
        };
        let is_of_task =
            |class: Option<ClassIdx>| class.is_some_and(|class| bound.classes().contains(&class));
        match *self.stream.trial() {
            Trial::StimulusResponse { portrait, rewarded_class } => {
                self.ensure(is_of_task(class_of(portrait)), || format!("{portrait:?} is not of the task"))?;
                self.ensure(expected_class(class_of(portrait)) == Some(usize::from(rewarded_class)), || {
                    format!("{portrait:?} is shown and class {rewarded_class} rewarded")
                })
            }
            Trial::Localization { object, bounds } => {
                self.ensure(is_of_task(class_of(object)), || format!("{object:?} is not of the task"))?;
                let ImageId::Object { index } = object else {
                    return Err(self.broken("localization shows something else than an object"));
                };
                let true_bounds = bound.stimuli().object(self.split, index).bounds;
                self.ensure(bounds == true_bounds, || "the box is not the object's".into())
            }
            Trial::Scene { sample, class, scene } => {
                self.ensure(class_of(sample) == Some(class), || "the sample has another class".into())?;
                let instances = bound.stimuli().instances(self.split, scene);
                self.ensure(instances.iter().any(|instance| instance.class == class), || {
                    "the scene does not hold the sample's class".into()
                })
            }
            Trial::Templates { sample, placements, rewarded_slot } => {
                let Paradigm::MatchToSample(MatchScreen::Templates(layout)) = bound.task().paradigm() else {
                    return Err(self.broken("templates in a task that has none"));
                };
                let shown = placements.as_slice();
                let is_once = |(idx, placement): (usize, &Placement)| {
                    !shown[..idx].iter().any(|other| other.class == placement.class)
                };
                let fits = |placement: &Placement| {
                    let end = |start: u8| usize::from(start) + layout.side_px;
                    end(placement.top) <= SCREEN_SIDE_PX && end(placement.left) <= SCREEN_SIDE_PX
                };
                let sample_class = class_of(sample);
                self.ensure(shown.len() == layout.slots.len(), || "a slot is empty".into())?;
                self.ensure(shown.iter().enumerate().all(is_once), || "a class is shown twice".into())?;
                self.ensure(shown.iter().all(fits), || "a template leaves the screen".into())?;
                self.ensure(shown.iter().any(|placement| Some(placement.class) == sample_class), || {
                    "the sample's class is not among the templates".into()
                })?;
                let rewarded = shown.get(usize::from(rewarded_slot)).map(|placement| placement.class);
                let expected = expected_class(sample_class).map(|position| bound.classes()[position]);
                self.ensure(rewarded.is_some() && rewarded == expected, || {
                    format!("{sample:?} is shown and {rewarded:?} rewarded")
                })
            }
        }
    }

    fn screen_is_reproducible(&mut self) -> Result<(), Violation> {
        let recipe = self.stream.recipe();
        let recipe_split = match recipe {
            ScreenRecipe::Whole { split, .. } | ScreenRecipe::Templates { split, .. } => split,
        };
        self.ensure(recipe_split == self.split, || "a screen of the other split".into())?;
        // Drawn over two different screens, to prove that every pixel is overwritten.
        self.screen.clear();
        self.screen_again.pixels_mut().fill(255);
        self.stream.draw(&mut self.screen)?;
        self.twin.draw(&mut self.screen_again)?;
        self.ensure(self.screen == self.screen_again, || "a screen drawn twice differs".into())?;
        let weigh = |(idx, &byte): (usize, &u8)| (idx as u64 + 1).wrapping_mul(u64::from(byte) + 1);
        let sum = self.screen.pixels().iter().enumerate().map(weigh).fold(0, u64::wrapping_add);
        let first = *self.seen.entry(recipe).or_insert(sum);
        self.ensure(first == sum, || format!("{recipe:?} was drawn in two ways"))
    }

    /// Compares every touch's reward with the map; for a first corner, the map's value with the maximum of the next
    /// map.
    fn map_is_exact(&mut self) -> Result<(), Violation> {
        self.stream.reward_map(&mut self.map);
        if !self.stream.is_last_step() {
            let is_corner = matches!(self.stream.trial(), Trial::Localization { .. });
            for _ in 0..8 {
                let touch = Touch::uniform(&mut self.touches);
                let mut fork = self.stream.clone();
                fork.touch(touch);
                fork.reward_map(&mut self.map_after);
                let (expected, said) =
                    (if is_corner { self.map_after.best() } else { 0.0 }, self.map.at(touch));
                self.ensure(said == expected, || {
                    format!("{touch:?} is worth {expected}, the map says {said}")
                })?;
            }
            return Ok(());
        }
        let bound = self.stream.bound_task();
        let mut n_wrong = 0;
        for touch in Touch::all() {
            let reward = bound.reward(self.stream.trial(), self.stream.trial_state(), touch);
            n_wrong += usize::from(reward.to_bits() != self.map.at(touch).to_bits());
        }
        self.ensure(n_wrong == 0, || format!("the map is wrong at {n_wrong} of {N_TOUCHES} touches"))
    }

    fn fork_and_snapshot_continue(&mut self) -> Result<(), Violation> {
        let touches: Vec<Touch> = (0..12).map(|_| Touch::uniform(&mut self.touches)).collect();
        let play = |stream: &mut Stream| {
            let rewards: Vec<u32> = touches.iter().map(|&touch| stream.touch(touch).to_bits()).collect();
            (rewards, stream.snapshot(), *stream.trial())
        };
        let snapshot = self.stream.snapshot();
        let mut fork = self.stream.clone();
        let forked = play(&mut fork);
        self.ensure(self.stream.snapshot() == snapshot, || "playing a fork moved its parent".into())?;
        let went_back = fork.restore(&snapshot);
        self.ensure(went_back.is_ok(), || "a stream refused its own snapshot".into())?;
        let replayed = play(&mut fork);
        self.ensure(forked == replayed, || "after going back to a snapshot the stream differs".into())?;
        let mut parent = self.twin.clone();
        let continued = play(&mut parent);
        self.ensure(forked == continued, || "a fork and its parent continue differently".into())
    }

    fn seeking_is_playing(&mut self) -> Result<(), Violation> {
        let mut sought = self.stream.clone();
        for trial in [0, 1, self.effort.n_trials / 2, self.effort.n_trials] {
            self.ensure(sought.seek(trial).is_ok(), || format!("trial {trial} cannot be sought"))?;
            let steps_per_trial = sought.bound_task().task().steps_per_trial();
            self.ensure(sought.n_steps() == trial * steps_per_trial, || {
                format!("seeking trial {trial} miscounts steps")
            })?;
        }
        self.ensure(
            sought.trial() == self.stream.trial() && sought.snapshot() == self.stream.snapshot(),
            || "a trial reached by seeking differs from the same trial reached by playing".into(),
        )
    }

    fn another_seed_differs(&self, mut stranger: Stream) -> Result<(), Violation> {
        let mut again = self.stream.clone();
        // With some tasks all seeds give the same trial, because there is only one.
        let (mut any_differs, mut only_one_trial) = (false, true);
        for trial in 0..self.effort.n_trials {
            let both_there = again.seek(trial).is_ok() && stranger.seek(trial).is_ok();
            self.ensure(both_there, || format!("trial {trial} cannot be sought"))?;
            any_differs |= again.trial() != stranger.trial();
            only_one_trial &= again.trial() == self.stream.trial();
        }
        self.ensure(any_differs || only_one_trial, || "another seed gives the same trials".into())
    }

    /// Compares the maps with the exact values: to rounding where all trials have equal maps, otherwise within six
    /// standard errors (one false alarm in half a billion).
    fn chance_and_best_are_exact(&self) -> Result<(), Violation> {
        let exact = self.stream.bound_task().exact_rewards(N_EXACT_SCREENS);
        let n_uncounted = match exact.basis {
            Basis::Geometry => 0,
            Basis::Screens { n_counted, n_all } => n_all - n_counted,
        };
        for (what, seen, expected) in
            [("chance level", &self.map_means, exact.chance), ("best reward", &self.map_bests, exact.best)]
        {
            let n = seen.len() as f64;
            let mean = seen.iter().sum::<f64>() / n;
            let deviation = (seen.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n).sqrt();
            // If only some screens were counted, their sampling error adds to the tolerance.
            let n_effective = if n_uncounted == 0 { n } else { n.min(N_EXACT_SCREENS as f64) };
            let tolerance = 6.0 * deviation / n_effective.sqrt() + 1e-5;
            self.ensure((mean - expected).abs() <= tolerance, || {
                format!(
                    "the maps offer {mean:.5}, the exact {what} is {expected:.5} (tolerance {tolerance:.5})"
                )
            })?;
        }
        self.ensure(exact.chance <= exact.best && exact.best <= 1.0, || {
            format!("chance {} and best {} are out of order", exact.chance, exact.best)
        })
    }
}
