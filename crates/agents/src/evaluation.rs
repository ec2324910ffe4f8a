//! How well an agent does on the validation split, and how true its reward maps are.

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

/// Steps whose visual part is computed at once.
const ROWS: usize = 32;
const N_BINS: usize = 10;

/// What a number of trials came to, learning off.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// Trials played.
    pub n_trials: u64,
    /// Mean reward of a trial.
    pub reward: f64,
    /// Its standard error.
    pub reward_se: f64,
    /// The share of touches of match screens that land on any object of a scene or any button; `None` where
    /// there are no match screens.
    pub on_object: Option<f64>,
    /// Of the first map, as all that follow: cross-entropy in nats between the predicted and the given reward of the chosen touches.
    pub cross_entropy: f64,
    /// Mean distance between predicted and true reward over all candidates of all steps.
    pub map_error: f64,
    /// Expected calibration error over all candidates: in ten bins of predicted reward, the distance between mean
    /// predicted and mean true reward, weighted by the bin's share.
    pub calibration_error: f64,
    /// How much more the best of each trial's candidates would have earned at its last step.
    pub regret: f64,
}

/// Plays validation trials; its memory is made once.
#[derive(Clone, Debug)]
pub struct Evaluator {
    candidates: CandidateTouches,
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
    /// Match screens, and touches of objects or buttons on them.
    n_match_screens: u64,
    n_on_object: u64,
    regret: f64,
    n_steps: u64,
    cross_entropy: f64,
    map_error: f64,
    /// Count, predicted and true rewards of each bin.
    bins: [(u64, f64, f64); N_BINS],
}

impl Evaluator {
    /// For a skill of an agent, and for what it becomes while it learns.
    pub fn new(skill: &Skill, settings: &AgentSettings, seed: RunSeed) -> Self {
        let shape = skill.structure().shape();
        let &AgentSettings { n_candidates, touch_scale, .. } = settings;
        Self {
            candidates: CandidateTouches::new(n_candidates, touch_scale),
            memory: skill.memory(n_candidates, ROWS),
            policy: PolicyMemory::new(skill.instructions(), shape.k_f, n_candidates),
            window: Window::new(shape.k_b, ROWS, shape.scene_len, touch_scale),
            seed,
        }
    }

    /// Plays `n_trials` from the stream's present trial on, starting without memories.
    pub fn evaluate(
        &mut self,
        skill: &Skill,
        policy: &PolicySettings,
        stream: &mut Stream,
        scenes: &impl FeatureSource,
        n_trials: u64,
    ) -> Result<Evaluation, MissingFeatures> {
        let mut sums = Sums::default();
        self.window.clear();
        while sums.n_trials < n_trials {
            self.window.look_ahead(0, stream, scenes)?;
            skill.precompute_visual(&self.window.history(scenes), &mut self.memory);
            for row in 0..ROWS {
                let step = stream.n_steps();
                self.candidates.draw(self.seed, CANDIDATES, step);
                let past_touches = self.window.past_touches(row);
                skill.predict(row, past_touches, self.candidates.centred(), &mut self.memory);
                self.policy.read(&self.memory);
                let chosen = self.policy.choose(policy, &mut self.seed.stream(CHOICE, step));
                sums.add_maps(stream, &self.candidates, self.policy.map(0));
                let ends_trial = stream.is_last_step();
                let best = if ends_trial { best_reward(stream, &self.candidates) } else { 0.0 };
                let touch = self.candidates.touch(chosen);
                sums.add_place(stream, touch);
                let reward = stream.touch(touch);
                sums.cross_entropy += f64::from(cross_entropy(self.memory.logits(0)[chosen], reward).0);
                sums.n_steps += 1;
                self.window.record(row, touch, reward);
                if ends_trial {
                    sums.add_trial(reward, best);
                    if sums.n_trials == n_trials {
                        break;
                    }
                }
            }
            self.window.advance(ROWS);
        }
        Ok(sums.evaluation(self.candidates.len()))
    }
}

fn best_reward(stream: &Stream, candidates: &CandidateTouches) -> f32 {
    let reward = |touch| stream.bound_task().reward(stream.trial(), stream.trial_state(), touch);
    candidates.touches().map(reward).fold(0.0, f32::max)
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

    fn add_maps(&mut self, stream: &Stream, candidates: &CandidateTouches, predicted: &[f32]) {
        for (touch, &predicted) in candidates.touches().zip(predicted) {
            let truth = stream.bound_task().reward(stream.trial(), stream.trial_state(), touch);
            self.map_error += f64::from((predicted - truth).abs());
            let bin = ((predicted * N_BINS as f32) as usize).min(N_BINS - 1);
            let (n, predictions, truths) = &mut self.bins[bin];
            *n += 1;
            *predictions += f64::from(predicted);
            *truths += f64::from(truth);
        }
    }

    fn evaluation(&self, n_candidates: usize) -> Evaluation {
        let (n, n_steps) = (self.n_trials as f64, self.n_steps as f64);
        let reward = self.reward / n;
        // Of the sample; one trial says nothing about its error.
        let variance = (self.reward_square / n - reward * reward).max(0.0) * n / (n - 1.0).max(1.0);
        let n_predictions = n_steps * n_candidates as f64;
        let misses = self.bins.iter().map(|(_, predicted, truth)| (predicted - truth).abs());
        Evaluation {
            n_trials: self.n_trials,
            reward,
            reward_se: (variance / n).sqrt(),
            on_object: (self.n_match_screens > 0)
                .then(|| self.n_on_object as f64 / self.n_match_screens as f64),
            cross_entropy: self.cross_entropy / n_steps,
            map_error: self.map_error / n_predictions,
            calibration_error: misses.sum::<f64>() / n_predictions,
            regret: self.regret / n,
        }
    }
}
