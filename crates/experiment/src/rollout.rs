//! Plays a stream without an agent, by uniform or perfect touches.

use crate::config::Choice;
use serde::Serialize;
use touchstream_env::reward_map::RewardMap;
use touchstream_env::seed::{RunSeed, StreamName};
use touchstream_env::stream::{CueReader, Stream};
use touchstream_env::touch::Touch;

const TOUCHES: StreamName = StreamName::new("rollout/touches");

/// How touches are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RolloutPolicy {
    Uniform,
    Perfect,
}

impl Choice for RolloutPolicy {
    const CHOICES: &'static [(Self, &'static str, &'static str)] = &[
        (Self::Uniform, "uniform", "Any pixel, each as likely as the others"),
        (Self::Perfect, "perfect", "A pixel of the largest true value"),
    ];
}

/// The result of one segment of the schedule.
#[derive(Serialize)]
pub struct SegmentRewards {
    pub segment: u64,
    pub task: String,
    pub n_steps: u64,
    pub n_trials: u64,
    pub reward_per_trial: f64,
    /// Standard error of the mean over trials.
    pub standard_error: f64,
}

/// Plays a stream; `on_step` receives the stream before each touch, whether a switch is cued, the touch and its
/// reward.
pub fn play<E>(
    mut stream: Stream,
    cues: CueReader,
    policy: RolloutPolicy,
    seed: RunSeed,
    n_steps: u64,
    mut on_step: impl FnMut(&Stream, bool, Touch, f32) -> Result<(), E>,
) -> Result<Vec<SegmentRewards>, E> {
    let mut random = seed.stream(TOUCHES, 0);
    let mut map = RewardMap::zeros();
    let mut lines = Vec::new();
    let mut sums = SegmentSums::default();
    for _ in 0..n_steps {
        let touch = match policy {
            RolloutPolicy::Uniform => Touch::uniform(&mut random),
            RolloutPolicy::Perfect => {
                stream.reward_map(&mut map);
                map.best_touch()
            }
        };
        let before = stream.clone();
        let reward = stream.touch(touch);
        on_step(&before, cues.read(&before).is_some(), touch, reward)?;
        sums.add(f64::from(reward), before.is_last_step());
        if stream.n_switches() > before.n_switches() {
            lines.push(std::mem::take(&mut sums).line(&before));
        }
    }
    if sums.n_steps > 0 {
        lines.push(sums.line(&stream));
    }
    Ok(lines)
}

/// Only the last touch of a trial can earn a reward.
#[derive(Default)]
struct SegmentSums {
    n_steps: u64,
    n_trials: u64,
    rewards: f64,
    squares: f64,
}

impl SegmentSums {
    fn add(&mut self, reward: f64, ends_trial: bool) {
        self.n_steps += 1;
        self.n_trials += u64::from(ends_trial);
        self.rewards += reward;
        self.squares += reward * reward;
    }

    fn line(self, stream: &Stream) -> SegmentRewards {
        let n = (self.n_trials as f64).max(1.0);
        let mean = self.rewards / n;
        SegmentRewards {
            segment: stream.n_switches(),
            task: stream.bound_task().task().id().to_owned(),
            n_steps: self.n_steps,
            n_trials: self.n_trials,
            reward_per_trial: mean,
            standard_error: ((self.squares / n - mean * mean).max(0.0) / n).sqrt(),
        }
    }
}
