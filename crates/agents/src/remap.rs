//! ReMaP (algorithm 1): predict, touch, receive the reward, learn.

mod state;

use crate::candidate_touches::CandidateTouches;
use crate::counterfactual::CounterfactualTouches;
use crate::dropout::Dropout;
use crate::feature_source::{FeatureSource, MissingFeatures, SceneShape, skill_on};
use crate::policy::PolicyMemory;
use crate::settings::{AgentSettings, SettingsError};
use crate::touch_scale::TouchScale;
use crate::window::Window;
use std::sync::Arc;
use touchstream_env::seed::{RunSeed, StreamName};
use touchstream_env::stream::Stream;
use touchstream_modules::composite::{Controller, ControllerParameters, VotingSettings};
use touchstream_modules::module::{Module, Structure};
use touchstream_modules::{Skill, SkillBatch, SkillLearner, SkillMemory};

pub use state::{ControllerState, ParameterState, RemapState, SkillState};

const WEIGHTS: StreamName = StreamName::new("agent/weights");
const VOTES: StreamName = StreamName::new("agent/votes");
const CANDIDATES: StreamName = StreamName::new("agent/candidates");
const CHOICE: StreamName = StreamName::new("agent/choice");

/// An agent with one module that learns and, after a switch, frozen modules that vote with it.
#[derive(Clone, Debug)]
pub struct Remap {
    settings: AgentSettings,
    seed: RunSeed,
    skill: Skill,
    learner: SkillLearner,
    candidates: CandidateTouches,
    memory: SkillMemory,
    policy: PolicyMemory,
    /// Rows are steps: first those whose `k_f` rewards were not all known at the last update, then those up to the next
    /// update.
    window: Window,
    others: CounterfactualTouches,
    /// The inputs of an update, `[batch_steps, n_targets, 2 (k_b + 1)]`.
    touches: Vec<f32>,
    /// The targets of an update, `[batch_steps, n_targets, k_f]`.
    rewards: Vec<f32>,
    n_steps: u64,
}

/// Rewards and loss of the steps up to an update.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Played {
    /// Sum of the rewards of completed trials.
    pub reward_sum: f64,
    /// Number of completed trials.
    pub n_trials: u64,
    /// Mean cross-entropy of the update, summed over the predicted maps.
    pub loss: f32,
}

/// Why playing failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PlayError {
    #[error("the loss is {loss} after {n_steps} steps: learning diverged; a lower learning rate may help")]
    Diverged {
        loss: f32,
        /// Steps played so far.
        n_steps: u64,
    },
    /// The features of a screen are missing.
    #[error(transparent)]
    MissingFeatures(#[from] MissingFeatures),
}

impl Remap {
    /// An untrained agent.
    pub fn new(settings: AgentSettings, shape: SceneShape, seed: RunSeed) -> Result<Self, SettingsError> {
        let structure = settings.check(shape)?;
        let skill = Skill::alone(new_module(&settings, structure, seed, 0));
        let AgentSettings { k_b, k_f, touch_scale, n_candidates, n_targets, batch_steps, .. } = settings;
        let n_rows = k_f - 1 + batch_steps;
        Ok(Self {
            learner: skill.learner(settings.adam, settings.batch_size()),
            candidates: CandidateTouches::new(n_candidates, touch_scale),
            memory: skill.memory(n_candidates, n_rows),
            policy: PolicyMemory::new(skill.instructions(), k_f, n_candidates),
            window: Window::new(k_b, n_rows, shape.scene_len, touch_scale)
                .with_dropout(Dropout::new(settings.dropout, seed)),
            others: CounterfactualTouches::new(n_rows, n_targets - 1),
            touches: vec![0.0; batch_steps * n_targets * 2 * (k_b + 1)],
            rewards: vec![0.0; batch_steps * n_targets * k_f],
            n_steps: 0,
            settings,
            seed,
            skill,
        })
    }

    /// Freezes the current module, and adds a new one and a controller. The history of screens, touches and rewards is
    /// kept. `settings` may change learning rate and policy, but not the structure of modules.
    pub fn compose(&mut self, settings: AgentSettings, voting: VotingSettings, scenes: &dyn FeatureSource) {
        let mut old = self.skill.controller().map_or(Vec::new(), |controller| controller.old().to_vec());
        old.push(Arc::new(self.skill.module().clone()));
        self.compose_of(old, settings, voting, scenes);
    }

    /// As [`Remap::compose`], with the given old modules.
    pub fn compose_of(
        &mut self,
        old: Vec<Arc<Module>>,
        settings: AgentSettings,
        voting: VotingSettings,
        scenes: &dyn FeatureSource,
    ) {
        let structure = self.skill.structure().clone();
        let ordinal = old.len() as u64;
        let module = new_module(&settings, structure, self.seed, ordinal);
        let controller = Controller::new(old, voting, normals(self.seed, VOTES, ordinal));
        self.set_skill(skill_on(scenes, module, Some(controller)), settings);
    }

    /// Replaces the skill and resets Adam's state.
    pub fn set_skill(&mut self, skill: Skill, settings: AgentSettings) {
        let AgentSettings { k_f, n_candidates, batch_steps, n_targets, .. } = self.settings;
        let sizes = (settings.k_f, settings.n_candidates, settings.batch_steps, settings.n_targets);
        assert_eq!(sizes, (k_f, n_candidates, batch_steps, n_targets), "sizes of the batch must not change");
        assert_eq!(settings.touch_scale, self.settings.touch_scale, "the touch scale must not change");
        assert_eq!(settings.dropout, self.settings.dropout, "dropout must not change");
        self.learner = skill.learner(settings.adam, settings.batch_size());
        self.memory = skill.memory(n_candidates, k_f - 1 + batch_steps);
        (self.skill, self.settings) = (skill, settings);
    }

    pub fn settings(&self) -> &AgentSettings {
        &self.settings
    }

    pub fn skill(&self) -> &Skill {
        &self.skill
    }

    /// Vote shares of all stages, averaged since the last call, in the order that
    /// [`voter_shares`](touchstream_modules::composite::voter_shares) reads; `None` for a single module, or if there
    /// was no update since.
    pub fn take_shares(&mut self) -> Option<Vec<f64>> {
        let SkillLearner::Composed(learner) = &mut self.learner else { return None };
        let means = learner.tally().means();
        learner.tally_mut().clear();
        means
    }

    /// Whether all parameters are finite.
    pub fn is_finite(&self) -> bool {
        let are_finite = |parameters: &[f32]| parameters.iter().all(|parameter| parameter.is_finite());
        let controller = self.skill.controller().map(Controller::parameters);
        are_finite(self.skill.module().parameters())
            && controller.is_none_or(|ControllerParameters { votes, actions, maps }| {
                are_finite(votes) && are_finite(actions) && are_finite(maps)
            })
    }

    /// Steps played.
    pub fn n_steps(&self) -> u64 {
        self.n_steps
    }

    /// Plays the steps up to the next update, then makes the update.
    pub fn play(&mut self, stream: &mut Stream, scenes: &dyn FeatureSource) -> Result<Played, PlayError> {
        let n_carried = self.settings.k_f - 1;
        self.window.look_ahead(n_carried, stream, scenes)?;
        self.skill.precompute_visual(&self.window.history(scenes), &mut self.memory);
        let mut played = Played::default();
        for row in n_carried..self.window.n_rows() {
            self.predict(row);
            let mut random = self.seed.stream(CHOICE, self.n_steps);
            let touch = self.candidates.touch(self.policy.choose(&self.settings.policy, &mut random));
            self.others.choose(row, &self.candidates, stream);
            self.others.set_next_rewards(row, stream, touch);
            let ends_trial = stream.is_last_step();
            let reward = stream.touch(touch);
            self.window.record(row, touch, reward);
            self.n_steps += 1;
            if ends_trial {
                played.reward_sum += f64::from(reward);
                played.n_trials += 1;
            }
        }
        played.loss = self.learn(scenes);
        self.window.advance(self.settings.batch_steps);
        self.others.advance(self.settings.batch_steps);
        match played.loss.is_finite() {
            true => Ok(played),
            false => Err(PlayError::Diverged { loss: played.loss, n_steps: self.n_steps }),
        }
    }

    /// Draws a step's candidates and predicts their rewards.
    fn predict(&mut self, row: usize) {
        self.candidates.draw(self.seed, CANDIDATES, self.n_steps);
        let past_touches = self.window.past_touches(row);
        self.skill.predict(row, past_touches, self.candidates.centred(), &mut self.memory);
        self.policy.read(&self.memory);
    }

    /// Updates the skill from the steps whose `k_f` rewards are all known.
    fn learn(&mut self, scenes: &dyn FeatureSource) -> f32 {
        let AgentSettings { k_f, batch_steps, learning_rate, .. } = self.settings;
        // Before the first update there are no steps to carry over.
        let first_row = if self.n_steps == batch_steps as u64 { k_f - 1 } else { 0 };
        let n_rows = batch_steps - first_row;
        for (idx, row) in (first_row..batch_steps).enumerate() {
            self.gather(idx, row);
        }
        let (n_touch, n_reward) = (self.touches.len() / batch_steps, self.rewards.len() / batch_steps);
        let batch = SkillBatch {
            history: &self.window.history_from(first_row, scenes),
            touches: &self.touches[..n_rows * n_touch],
            rewards: &self.rewards[..n_rows * n_reward],
        };
        self.skill.learn(&mut self.learner, learning_rate, &self.memory, first_row..batch_steps, batch)
    }

    /// Copies a row to the batch: the executed touch, then the counterfactual touches.
    fn gather(&mut self, idx: usize, row: usize) {
        let AgentSettings { k_f, n_targets, touch_scale, .. } = self.settings;
        let (touches, rewards) = (self.window.touches(row), self.window.rewards(row, k_f));
        let place = |len: usize| idx * n_targets * len..(idx + 1) * n_targets * len;
        let out = self.touches[place(touches.len())].chunks_exact_mut(touches.len());
        let out = out.zip(self.rewards[place(k_f)].chunks_exact_mut(k_f));
        let others = self.others.of_row(row).iter().map(Some);
        for ((touches_out, rewards_out), other) in out.zip(std::iter::once(None).chain(others)) {
            touches_out.copy_from_slice(touches);
            rewards_out.copy_from_slice(rewards);
            if let Some(other) = other {
                touches_out[touches.len() - 2..]
                    .copy_from_slice(&touch_scale.centred_from_touch(other.touch));
                let counterfactual = [other.reward, other.next_reward];
                rewards_out.iter_mut().zip(counterfactual).for_each(|(out, reward)| *out = reward);
            }
        }
    }
}

/// An untrained module. `ordinal` counts the agent's modules; each starts with different weights.
fn new_module(settings: &AgentSettings, structure: Structure, seed: RunSeed, ordinal: u64) -> Module {
    let (initial, TouchScale(scale)) = (settings.initial_weights, settings.touch_scale);
    let parameters = initial.draw(&structure, scale, normals(seed, WEIGHTS, ordinal));
    Module::new(structure, parameters)
}

/// Draws from N(0, 1).
fn normals(seed: RunSeed, name: StreamName, index: u64) -> impl FnMut() -> f32 {
    let mut random = seed.stream(name, index);
    let mut spare = None;
    move || {
        spare.take().unwrap_or_else(|| {
            let (first, second) = random.normal_pair();
            spare = Some(second);
            first
        })
    }
}
