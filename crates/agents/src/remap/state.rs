//! The state of an agent after an update, from which it continues with the same bits.

use super::Remap;
use crate::counterfactual::CounterfactualTouch;
use crate::feature_source::{FeatureSource, SceneShape, skill_on};
use crate::settings::AgentSettings;
use std::sync::Arc;
use touchstream_modules::composite::{Controller, ControllerParameters, ShareTally, VotingSettings};
use touchstream_modules::module::Module;
use touchstream_modules::{AdamState, Skill, SkillLearner};

/// The state of an agent between two updates.
#[derive(Clone, Debug, PartialEq)]
pub struct RemapState {
    pub settings: AgentSettings,
    /// Steps played.
    pub n_steps: u64,
    /// Parameters and Adam's state.
    pub skill: SkillState,
    /// Screens of the steps that the next update or later inputs need.
    pub screens: Vec<Option<u32>>,
    /// Touch coordinates of these steps.
    pub touches: Vec<[f32; 2]>,
    /// Rewards of these steps.
    pub rewards: Vec<f32>,
    /// Counterfactual touches of the steps that the next update needs.
    pub others: Vec<CounterfactualTouch>,
}

/// The state of a skill.
#[derive(Clone, Debug, PartialEq)]
pub struct SkillState {
    /// The new module.
    pub module: ParameterState,
    /// Parameters of frozen modules, oldest first.
    pub old: Vec<Vec<f32>>,
    /// `None` without frozen modules.
    pub controller: Option<ControllerState>,
}

/// The state of a controller.
#[derive(Clone, Debug, PartialEq)]
pub struct ControllerState {
    pub settings: VotingSettings,
    pub votes: ParameterState,
    pub actions: ParameterState,
    pub maps: ParameterState,
    /// Vote shares since they were last read.
    pub tally: ShareTally,
}

/// Parameters with Adam's state.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterState {
    pub parameters: Vec<f32>,
    pub adam: AdamState,
}

impl ParameterState {
    fn new(parameters: &[f32], adam: &AdamState) -> Self {
        Self { parameters: parameters.to_vec(), adam: adam.clone() }
    }

    fn fits(&self, n: usize) -> bool {
        [self.parameters.len(), self.adam.mean.len(), self.adam.square.len()] == [n; 3]
    }
}

impl Remap {
    pub fn state(&self) -> RemapState {
        let (screens, touches, rewards) = self.window.oldest(self.n_kept());
        RemapState {
            settings: self.settings.clone(),
            n_steps: self.n_steps,
            skill: skill_state(&self.skill, &self.learner),
            screens: screens.to_vec(),
            touches: touches.to_vec(),
            rewards: rewards.to_vec(),
            others: self.others.oldest(self.settings.k_f - 1).to_vec(),
        }
    }

    /// Restores a state; `false` if it belongs to an agent with other settings, modules or screens.
    pub fn restore(&mut self, state: &RemapState, scenes: &dyn FeatureSource) -> bool {
        let kept = [state.screens.len(), state.touches.len(), state.rewards.len()];
        let n_screens = scenes.n_screens();
        let screens_exist = state.screens.iter().flatten().all(|&screen| (screen as usize) < n_screens);
        if kept != [self.n_kept(); 3] || !screens_exist || !self.accepts(&state.settings) {
            return false;
        }
        let Some((skill, adam)) = self.skill_from(&state.skill, scenes) else { return false };
        let mut learner = skill.learner(state.settings.adam, state.settings.batch_size());
        set_adam(&mut learner, adam);
        if let (Some(controller), SkillLearner::Composed(learner)) = (&state.skill.controller, &mut learner) {
            if controller.tally.sums.len() != learner.tally().sums.len() {
                return false;
            }
            learner.tally_mut().clone_from(&controller.tally);
        }
        if !self.others.set_oldest(self.settings.k_f - 1, &state.others) {
            return false;
        }
        self.set_skill(skill, state.settings.clone());
        self.learner = learner;
        self.n_steps = state.n_steps;
        self.window.set_oldest(state.n_steps, scenes, &state.screens, &state.touches, &state.rewards);
        true
    }

    /// Whether settings differ only in learning rate and policy.
    fn accepts(&self, settings: &AgentSettings) -> bool {
        let AgentSettings { learning_rate, policy, .. } = settings.clone();
        *settings == AgentSettings { learning_rate, policy, ..self.settings.clone() }
            && settings.check(self.scene_shape()).is_ok()
    }

    fn scene_shape(&self) -> SceneShape {
        let shape = self.skill.structure().shape();
        SceneShape {
            scene_len: shape.scene_len,
            map: shape.convolutions.as_ref().map(|convolutions| convolutions.map),
        }
    }

    /// Number of the window's steps that the next update or later inputs need.
    fn n_kept(&self) -> usize {
        self.settings.k_b + self.settings.k_f - 1
    }

    fn skill_from<'s>(
        &self,
        state: &'s SkillState,
        scenes: &dyn FeatureSource,
    ) -> Option<(Skill, Vec<&'s AdamState>)> {
        let structure = self.skill.structure();
        let n = structure.n_parameters();
        if !state.module.fits(n) || state.old.iter().any(|old| old.len() != n) {
            return None;
        }
        let module = Module::new(structure.clone(), state.module.parameters.clone());
        let mut adam = vec![&state.module.adam];
        let Some(controller_state) = &state.controller else {
            return state.old.is_empty().then(|| (Skill::alone(module), adam));
        };
        if state.old.is_empty() {
            return None;
        }
        let old = state.old.iter().map(|old| Arc::new(Module::new(structure.clone(), old.clone())));
        let old: Vec<Arc<Module>> = old.collect();
        let mut controller = Controller::new(old, controller_state.settings, || 0.0);
        let ControllerState { votes, actions, maps, .. } = controller_state;
        let ControllerParameters { votes: own_votes, actions: own_actions, maps: own_maps } =
            controller.parameters_mut();
        for (own, learned) in [(own_votes, votes), (own_actions, actions), (own_maps, maps)] {
            if !learned.fits(own.len()) {
                return None;
            }
            own.copy_from_slice(&learned.parameters);
            adam.push(&learned.adam);
        }
        Some((skill_on(scenes, module, Some(controller)), adam))
    }
}

fn skill_state(skill: &Skill, learner: &SkillLearner) -> SkillState {
    let module = skill.module().parameters();
    match (skill.controller(), learner) {
        (Some(controller), SkillLearner::Composed(learner)) => {
            let adam = learner.adam();
            let ControllerParameters { votes, actions, maps } = controller.parameters();
            let [of_votes, of_actions, of_maps] = &adam.controller;
            SkillState {
                module: ParameterState::new(module, &adam.module),
                old: controller.old().iter().map(|module| module.parameters().to_vec()).collect(),
                controller: Some(ControllerState {
                    settings: *controller.settings(),
                    votes: ParameterState::new(votes, of_votes),
                    actions: ParameterState::new(actions, of_actions),
                    maps: ParameterState::new(maps, of_maps),
                    tally: learner.tally().clone(),
                }),
            }
        }
        (None, SkillLearner::Alone(learner)) => SkillState {
            module: ParameterState::new(module, learner.state()),
            old: Vec::new(),
            controller: None,
        },
        _ => unreachable!("a learner is made for its skill"),
    }
}

/// `states`: of the module, then of votes, transformed touches and transformed maps.
fn set_adam(learner: &mut SkillLearner, states: Vec<&AdamState>) {
    let own: Vec<&mut AdamState> = match learner {
        SkillLearner::Alone(learner) => vec![learner.state_mut()],
        SkillLearner::Composed(learner) => {
            let adam = learner.adam_mut();
            std::iter::once(&mut adam.module).chain(&mut adam.controller).collect()
        }
    };
    own.into_iter().zip(states).for_each(|(own, state)| own.clone_from(state));
}
