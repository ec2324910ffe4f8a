//! Counterfactual targets: candidate touches that were not executed, with the rewards that they would have earned.
//!
//! Beyond the paper: a module may learn from several touches per step. Apart from its own reward, the first touch of a
//! trial affects only the reward of the trial's second touch.

use crate::candidate_touches::CandidateTouches;
use serde::{Deserialize, Serialize};
use touchstream_env::stream::Stream;
use touchstream_env::touch::Touch;
use touchstream_env::trial::TrialState;

/// A touch that was not executed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CounterfactualTouch {
    pub touch: Touch,
    /// The reward it would have earned.
    pub reward: f32,
    /// The reward that the next touch would have earned after it.
    pub next_reward: f32,
}

/// The counterfactual touches of a window's rows.
#[derive(Clone, Debug)]
pub(crate) struct CounterfactualTouches {
    /// `[n_rows, n_each]`
    touches: Vec<CounterfactualTouch>,
    n_each: usize,
}

impl CounterfactualTouches {
    pub fn new(n_rows: usize, n_each: usize) -> Self {
        let touch = Touch::new(0, 0).expect("the corner is on the screen");
        let none = CounterfactualTouch { touch, reward: 0.0, next_reward: 0.0 };
        Self { touches: vec![none; n_rows * n_each], n_each }
    }

    pub fn of_row(&self, row: usize) -> &[CounterfactualTouch] {
        &self.touches[row * self.n_each..][..self.n_each]
    }

    /// Chooses a row's touches from the candidates, spread over the screen, with their rewards.
    pub fn choose(&mut self, row: usize, candidates: &CandidateTouches, stream: &Stream) {
        let (n, n_each) = (candidates.len(), self.n_each);
        let reward = |touch| stream.bound_task().reward(stream.trial(), stream.trial_state(), touch);
        for (idx, other) in self.touches[row * n_each..][..n_each].iter_mut().enumerate() {
            let touch = candidates.touch((2 * idx + 1) * n / (2 * n_each));
            *other = CounterfactualTouch { touch, reward: reward(touch), next_reward: 0.0 };
        }
    }

    /// Called before `touch` is executed: computes what it would earn after each counterfactual touch of the previous
    /// row.
    pub fn set_next_rewards(&mut self, row: usize, stream: &Stream, touch: Touch) {
        let Some(before) = row.checked_sub(1) else { return };
        let is_second = stream.trial_state().first_touch.is_some();
        for other in &mut self.touches[before * self.n_each..][..self.n_each] {
            let first_touch = is_second.then_some(other.touch);
            let state = TrialState { first_touch };
            other.next_reward = stream.bound_task().reward(stream.trial(), state, touch);
        }
    }

    /// Removes the oldest `n` rows.
    pub fn advance(&mut self, n: usize) {
        self.touches.copy_within(n * self.n_each.., 0);
    }

    /// The touches of the oldest `n` rows.
    pub fn oldest(&self, n: usize) -> &[CounterfactualTouch] {
        &self.touches[..n * self.n_each]
    }

    /// Restores the oldest `n` rows; `false` if the number of touches is wrong.
    pub fn set_oldest(&mut self, n: usize, touches: &[CounterfactualTouch]) -> bool {
        let fits = touches.len() == n * self.n_each;
        if fits {
            self.touches[..touches.len()].copy_from_slice(touches);
        }
        fits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::touch_scale::TouchScale;
    use std::sync::Arc;
    use touchstream_env::plain_stimuli::PlainStimuli;
    use touchstream_env::schedule::Schedule;
    use touchstream_env::seed::{RunSeed, StreamName};
    use touchstream_env::stimuli::Split;
    use touchstream_env::task::find_task;

    /// In a copy of the stream in which the counterfactual touch is executed, it earns the computed rewards.
    #[test]
    fn rewards_equal_those_of_a_fork() {
        const N_EACH: usize = 5;
        for task in ["localization", "mts-2way-stationary", "sr-4way-quadrant"] {
            let schedule = Schedule::single(find_task(task).unwrap());
            let stimuli = Arc::new(PlainStimuli::new(4));
            let (mut stream, _) = Stream::open(schedule, stimuli, Split::Train, RunSeed(3)).unwrap();
            let mut candidates = CandidateTouches::new(32, TouchScale::ONE);
            let mut others = CounterfactualTouches::new(40, N_EACH);
            let mut forks: Vec<Vec<(Stream, f32)>> = Vec::new();
            let mut n_rewarded = 0;
            for row in 0..40 {
                candidates.draw(RunSeed(7), StreamName::new("test/others"), row as u64);
                let chosen = candidates.touch(row % candidates.len());
                others.choose(row, &candidates, &stream);
                others.set_next_rewards(row, &stream, chosen);
                let made = others.of_row(row).iter().map(|other| {
                    let mut fork = stream.clone();
                    let reward = fork.touch(other.touch);
                    (fork, reward)
                });
                forks.push(made.collect());
                stream.touch(chosen);
                let Some(before) = row.checked_sub(1) else { continue };
                for (other, (fork, reward)) in others.of_row(before).iter().zip(&mut forks[before]) {
                    assert_eq!((other.reward, other.next_reward), (*reward, fork.touch(chosen)), "{task}");
                    n_rewarded += usize::from(*reward > 0.0) + usize::from(other.next_reward > 0.0);
                }
            }
            assert!(n_rewarded > 10, "{task}: {n_rewarded}");
        }
    }
}
