//! ReMaP (algorithm 1): look, predict, touch, be rewarded, learn.

use crate::candidate_touches::CandidateTouches;
use crate::policy::PolicyMemory;
use crate::scenes::{NoScene, Scenes};
use crate::settings::{AgentSettings, SettingsError};
use crate::window::Window;
use serde::{Deserialize, Serialize};
use touchstream_env::seed::{RunSeed, StreamName};
use touchstream_env::stream::Stream;
use touchstream_mind::AdamState;
use touchstream_mind::module::{Batch, HeadMemory, Learner, Module};

const WEIGHTS: StreamName = StreamName::new("agent/weights");
const CANDIDATES: StreamName = StreamName::new("agent/candidates");
const CHOICE: StreamName = StreamName::new("agent/choice");

/// An agent with one module that learns.
#[derive(Clone, Debug)]
pub struct Remap {
    settings: AgentSettings,
    seed: RunSeed,
    module: Module,
    learner: Learner,
    candidates: CandidateTouches,
    head: HeadMemory,
    policy: PolicyMemory,
    /// Rows: steps whose rewards had not all come when the last update was made, then those up to the next update.
    window: Window,
    /// The visual part of the first stage for all rows, under the present weights.
    visual: Vec<f32>,
    /// Gathered for an update: `[batch, 2 (k_b + 1)]` and `[batch, k_f]`.
    touches: Vec<f32>,
    rewards: Vec<f32>,
    n_steps: u64,
}

/// What some steps came to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Played {
    /// Rewards of trials that ended.
    pub reward_sum: f64,
    /// Trials that ended.
    pub n_trials: u64,
    /// Mean cross-entropy of the update, summed over the predicted maps.
    pub loss: f32,
}

/// Why playing stopped.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PlayError {
    /// Learning has led to numbers that are none.
    #[error("the loss is {loss} after {n_steps} steps: learning diverged; a lower learning rate may help")]
    Diverged {
        /// NaN or infinite.
        loss: f32,
        /// Steps played.
        n_steps: u64,
    },
    /// Features are missing.
    #[error(transparent)]
    NoScene(#[from] NoScene),
}

/// Everything that an agent is after an update, besides its settings: enough to go on with the same bits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RemapState {
    /// Steps played.
    pub n_steps: u64,
    /// Weights and biases.
    pub parameters: Vec<f32>,
    /// Adam's mean of gradients.
    pub adam_mean: Vec<f32>,
    /// Adam's mean of squared gradients.
    pub adam_square: Vec<f32>,
    /// Updates made.
    pub n_updates: u64,
    /// Screens of the steps that still matter.
    pub screens: Vec<Option<u32>>,
    /// Their touches.
    pub touches: Vec<[f32; 2]>,
    /// Their rewards.
    pub rewards: Vec<f32>,
}

impl Remap {
    /// An agent that has seen nothing yet.
    pub fn new(settings: AgentSettings, scene_len: usize, seed: RunSeed) -> Result<Self, SettingsError> {
        let structure = settings.check(scene_len)?;
        let mut random = seed.stream(WEIGHTS, 0);
        let mut spare = None;
        let normal = || {
            spare.take().unwrap_or_else(|| {
                let (first, second) = random.normal_pair();
                spare = Some(second);
                first
            })
        };
        let parameters = settings.initial_weights.draw(&structure, normal);
        let module = Module::new(structure.clone(), parameters);
        let AgentSettings { k_b, k_f, n_candidates, batch_steps, .. } = settings;
        let n_rows = k_f - 1 + batch_steps;
        Ok(Self {
            learner: Learner::new(&structure, settings.adam, batch_steps),
            candidates: CandidateTouches::new(n_candidates),
            head: HeadMemory::new(&structure, n_candidates),
            policy: PolicyMemory::new(module.instructions(), k_f, n_candidates),
            window: Window::new(k_b, n_rows, scene_len),
            visual: vec![0.0; n_rows * structure.stages()[0].n_units],
            touches: vec![0.0; batch_steps * structure.shape().n_touch()],
            rewards: vec![0.0; batch_steps * k_f],
            n_steps: 0,
            settings,
            seed,
            module,
        })
    }

    /// What it was made with.
    pub fn settings(&self) -> &AgentSettings {
        &self.settings
    }

    /// The module as it is now.
    pub fn module(&self) -> &Module {
        &self.module
    }

    /// Steps played.
    pub fn n_steps(&self) -> u64 {
        self.n_steps
    }

    /// Plays the steps up to the next update, and updates.
    pub fn play(&mut self, stream: &mut Stream, scenes: &impl Scenes) -> Result<Played, PlayError> {
        let n_carried = self.settings.k_f - 1;
        self.window.look_ahead(n_carried, stream, scenes)?;
        self.module.visual(&self.window.history(scenes), &mut self.visual);
        self.head.load(&self.module);
        let mut played = Played::default();
        for row in n_carried..self.window.n_rows() {
            self.predict(row);
            let mut random = self.seed.stream(CHOICE, self.n_steps);
            let touch = self.candidates.touch(self.policy.choose(&self.settings.policy, &mut random));
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
        match played.loss.is_finite() {
            true => Ok(played),
            false => Err(PlayError::Diverged { loss: played.loss, n_steps: self.n_steps }),
        }
    }

    /// Leaves predicted rewards of the step's candidates in `policy`.
    fn predict(&mut self, row: usize) {
        self.candidates.draw(self.seed, CANDIDATES, self.n_steps);
        let n_units = self.visual.len() / self.window.n_rows();
        let visual = &self.visual[row * n_units..][..n_units];
        let past_touches = self.window.past_touches(row);
        self.module.predict(visual, past_touches, self.candidates.centred(), &mut self.head);
        self.policy.read(&self.head);
    }

    /// One update from the steps whose rewards have all come.
    fn learn(&mut self, scenes: &impl Scenes) -> f32 {
        let AgentSettings { k_f, batch_steps, learning_rate, .. } = self.settings;
        // Before the first update there is nothing to carry over.
        let first_row = if self.n_steps == batch_steps as u64 { k_f - 1 } else { 0 };
        let n_rows = batch_steps - first_row;
        let n_touch = self.touches.len() / batch_steps;
        for (idx, row) in (first_row..batch_steps).enumerate() {
            self.touches[idx * n_touch..][..n_touch].copy_from_slice(self.window.touches(row));
            self.rewards[idx * k_f..][..k_f].copy_from_slice(self.window.rewards(row, k_f));
        }
        let n_units = self.visual.len() / self.window.n_rows();
        let batch = Batch {
            visual: &self.visual[first_row * n_units..batch_steps * n_units],
            history: &self.window.history_from(first_row, scenes),
            touches: &self.touches[..n_rows * n_touch],
            rewards: &self.rewards[..n_rows * k_f],
        };
        self.learner.learn(&mut self.module, learning_rate, batch)
    }

    /// Everything, to go on from later.
    pub fn state(&self) -> RemapState {
        let AdamState { mean, square, n_updates } = self.learner.state();
        let (screens, touches, rewards) = self.window.oldest(self.n_kept());
        RemapState {
            n_steps: self.n_steps,
            parameters: self.module.parameters().to_vec(),
            adam_mean: mean.clone(),
            adam_square: square.clone(),
            n_updates: *n_updates,
            screens: screens.to_vec(),
            touches: touches.to_vec(),
            rewards: rewards.to_vec(),
        }
    }

    /// Goes back to a state; `false` if it is not one of an agent with these settings and `n_screens` screens.
    pub fn restore(&mut self, state: &RemapState, n_screens: usize) -> bool {
        let n_parameters = self.module.parameters().len();
        let n_kept = self.n_kept();
        let lens = [state.parameters.len(), state.adam_mean.len(), state.adam_square.len()];
        let kept = [state.screens.len(), state.touches.len(), state.rewards.len()];
        let screens_exist = state.screens.iter().flatten().all(|&screen| (screen as usize) < n_screens);
        if lens != [n_parameters; 3] || kept != [n_kept; 3] || !screens_exist {
            return false;
        }
        self.n_steps = state.n_steps;
        self.module.parameters_mut().copy_from_slice(&state.parameters);
        let adam = self.learner.state_mut();
        adam.mean.copy_from_slice(&state.adam_mean);
        adam.square.copy_from_slice(&state.adam_square);
        adam.n_updates = state.n_updates;
        self.window.set_oldest(&state.screens, &state.touches, &state.rewards);
        true
    }

    /// Steps of the window that the next rows look back at or that are still to be learned.
    fn n_kept(&self) -> usize {
        self.settings.k_b + self.settings.k_f - 1
    }
}
