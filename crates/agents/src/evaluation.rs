//! Evaluates an agent on the validation split: its rewards, and the accuracy of its reward maps.

use crate::candidate_touches::CandidateTouches;
use crate::feature_source::{FeatureSource, MissingFeatures};
use crate::policy::{PolicyMemory, PolicySettings};
use crate::settings::AgentSettings;
use crate::window::Window;
use serde::{Deserialize, Serialize};
use touchstream_env::seed::{RunSeed, StreamName};
use touchstream_env::stream::Stream;
use touchstream_env::touch::Touch;
use touchstream_modules::{Skill, SkillMemory, cross_entropy};

const CANDIDATES: StreamName = StreamName::new("agent/evaluation/candidates");
const CHOICE: StreamName = StreamName::new("agent/evaluation/choice");

/// Steps whose visual features are computed together; it divides the 200 or 400 steps of a default evaluation.
const ROWS: usize = 40;
const N_BINS: usize = 10;

/// Metrics of an agent on validation trials, without learning.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// Number of trials.
    pub n_trials: u64,
    /// Mean reward per trial.
    pub reward: f64,
    /// Standard error of the mean reward.
    pub reward_se: f64,
    /// The share of touches on match screens that land on any template, or on any object of a scene; `None` without
    /// match screens.
    pub on_object: Option<f64>,
    /// Cross-entropy in nats between the first map's prediction for the chosen touch and its reward.
    pub cross_entropy: f64,
    /// Mean absolute difference between the first map and the true rewards, over all candidates of all steps.
    pub map_error: f64,
    /// Expected calibration error of the first map: in ten bins of predicted reward, the absolute difference between
    /// mean predicted and mean true reward, averaged with the number of predictions as weight.
    pub calibration_error: f64,
    /// Mean over trials: the reward of the best candidate at the last step, minus the reward earned.
    pub regret: f64,
}

/// Plays validation trials. All buffers are allocated once.
#[derive(Clone, Debug)]
pub struct Evaluator {
    candidates: CandidateTouches,
    /// True rewards of the candidates.
    rewards: Vec<f32>,
    memory: SkillMemory,
    policy: PolicyMemory,
    window: Window,
    seed: RunSeed,
}

/// Sums over trials, steps and candidates.
#[derive(Default)]
struct Sums {
    n_trials: u64,
    reward: f64,
    reward_square: f64,
    n_match_screens: u64,
    n_on_object: u64,
    regret: f64,
    n_steps: u64,
    cross_entropy: f64,
    map_error: f64,
    /// Number of predictions, predicted and true rewards in each bin.
    bins: [(u64, f64, f64); N_BINS],
}

impl Evaluator {
    /// An evaluator of this skill, also after it has learned more.
    pub fn new(skill: &Skill, settings: &AgentSettings, seed: RunSeed) -> Self {
        let shape = skill.structure().shape();
        let &AgentSettings { n_candidates, touch_scale, .. } = settings;
        Self {
            candidates: CandidateTouches::new(n_candidates, touch_scale),
            rewards: vec![0.0; n_candidates],
            memory: skill.memory(n_candidates, ROWS),
            policy: PolicyMemory::new(skill.instructions(), shape.k_f, n_candidates),
            window: Window::new(shape.k_b, ROWS, shape.scene_len, touch_scale),
            seed,
        }
    }

    /// Plays `n_trials` from the stream's current trial on, with an empty history.
    pub fn evaluate(
        &mut self,
        skill: &Skill,
        policy: &PolicySettings,
        stream: &mut Stream,
        features: &dyn FeatureSource,
        n_trials: u64,
    ) -> Result<Evaluation, MissingFeatures> {
        let evaluation = self.evaluate_unless(&|| false, skill, policy, stream, features, n_trials)?;
        Ok(evaluation.expect("nothing stops it"))
    }

    /// The same; `None` if `must_stop` returns true before the last trial. It is asked every few steps.
    pub fn evaluate_unless(
        &mut self,
        must_stop: &dyn Fn() -> bool,
        skill: &Skill,
        policy: &PolicySettings,
        stream: &mut Stream,
        features: &dyn FeatureSource,
        n_trials: u64,
    ) -> Result<Option<Evaluation>, MissingFeatures> {
        let mut sums = Sums::default();
        self.window.clear();
        while sums.n_trials < n_trials {
            if must_stop() {
                return Ok(None);
            }
            self.window.look_ahead(0, stream, features)?;
            skill.precompute_visual(&self.window.history(features), &mut self.memory);
            for row in 0..ROWS {
                let step = stream.n_steps();
                self.candidates.draw(self.seed, CANDIDATES, step);
                let past_touches = self.window.past_touches(row);
                skill.predict(row, past_touches, self.candidates.centred(), &mut self.memory);
                self.policy.read(&self.memory);
                let chosen = self.policy.choose(policy, &mut self.seed.stream(CHOICE, step));
                let (trial, state) = (stream.trial(), stream.trial_state());
                let touches = self.candidates.touches();
                stream.bound_task().rewards(trial, state, touches, &mut self.rewards);
                sums.add_map(self.policy.map(0), &self.rewards);
                let ends_trial = stream.is_last_step();
                let touch = self.candidates.touch(chosen);
                sums.add_place(stream, touch);
                let reward = stream.touch(touch);
                sums.cross_entropy += f64::from(cross_entropy(self.memory.logits(0)[chosen], reward).0);
                sums.n_steps += 1;
                self.window.record(row, touch, reward);
                if ends_trial {
                    sums.add_trial(reward, self.rewards.iter().copied().fold(0.0, f32::max));
                    if sums.n_trials == n_trials {
                        break;
                    }
                }
            }
            self.window.advance(ROWS);
        }
        Ok(Some(sums.evaluation(self.candidates.len())))
    }
}

impl Sums {
    fn add_trial(&mut self, reward: f32, best: f32) {
        self.n_trials += 1;
        self.reward += f64::from(reward);
        self.reward_square += f64::from(reward).powi(2);
        self.regret += f64::from(best - reward);
    }

    fn add_place(&mut self, stream: &Stream, touch: Touch) {
        let task = stream.bound_task();
        if let Some(is_on_object) = task.is_on_object(stream.trial(), stream.trial_state(), touch) {
            self.n_match_screens += 1;
            self.n_on_object += u64::from(is_on_object);
        }
    }

    fn add_map(&mut self, predicted: &[f32], rewards: &[f32]) {
        for (&predicted, &reward) in predicted.iter().zip(rewards) {
            self.map_error += f64::from((predicted - reward).abs());
            let bin = ((predicted * N_BINS as f32) as usize).min(N_BINS - 1);
            let (n, predictions, truths) = &mut self.bins[bin];
            *n += 1;
            *predictions += f64::from(predicted);
            *truths += f64::from(reward);
        }
    }

    fn evaluation(&self, n_candidates: usize) -> Evaluation {
        let (n, n_steps) = (self.n_trials as f64, self.n_steps as f64);
        let reward = self.reward / n;
        // The variance of the sample; with one trial the standard error is 0.
        let variance = (self.reward_square / n - reward * reward).max(0.0) * n / (n - 1.0).max(1.0);
        let n_predictions = n_steps * n_candidates as f64;
        let differences = self.bins.iter().map(|(_, predicted, truth)| (predicted - truth).abs());
        Evaluation {
            n_trials: self.n_trials,
            reward,
            reward_se: (variance / n).sqrt(),
            on_object: (self.n_match_screens > 0)
                .then(|| self.n_on_object as f64 / self.n_match_screens as f64),
            cross_entropy: self.cross_entropy / n_steps,
            map_error: self.map_error / n_predictions,
            calibration_error: differences.sum::<f64>() / n_predictions,
            regret: self.regret / n,
        }
    }
}
