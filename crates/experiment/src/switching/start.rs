//! Creates the agent that learns a second task.

use crate::error::{Error, Result};
use crate::run::Trained;
use std::sync::Arc;
use touchstream_agents::{AgentSettings, FeatureSource, Remap};
use touchstream_analysis::{SwitchMethod, VotingMethod};
use touchstream_env::seed::{RunSeed, StreamName};
use touchstream_modules::Skill;
use touchstream_modules::composite::VotingSettings;
use touchstream_modules::module::Module;

const SHUFFLE: StreamName = StreamName::new("lab/shuffled-module");

/// Everything that the agent of a second task starts from.
pub struct Start<'a, S> {
    /// The trained agent of the base task.
    pub trained: &'a Trained,
    /// Settings of the agent on the base task.
    pub base: &'a AgentSettings,
    /// Settings of the agent on the second task.
    pub second: &'a AgentSettings,
    /// Features of the screens of both tasks.
    pub scenes: &'a S,
    pub seed: RunSeed,
}

impl<S: FeatureSource> Start<'_, S> {
    /// The agent of a method; `settings_of` returns the settings of its controller.
    pub fn agent(
        &self,
        method: SwitchMethod,
        settings_of: impl Fn(VotingMethod) -> VotingSettings,
    ) -> Result<Remap> {
        let Start { trained, base, second, scenes, seed } = *self;
        if method == SwitchMethod::Scratch {
            return Ok(Remap::new(second.clone(), scenes.shape(), seed)?);
        }
        let mut agent = Remap::new(base.clone(), scenes.shape(), seed)?;
        if !agent.restore(&trained.agent, scenes) {
            return Err(Error::damaged(&trained.checkpoint, "it is of another base than this one"));
        }
        match method {
            SwitchMethod::Scratch => {}
            SwitchMethod::Voting(voting) if voting.is_shuffled => {
                let old = Arc::new(shuffled(agent.skill().module(), seed));
                agent.compose_of(vec![old], second.clone(), settings_of(voting), scenes);
            }
            SwitchMethod::Voting(voting) => agent.compose(second.clone(), settings_of(voting), scenes),
            SwitchMethod::FineTuning | SwitchMethod::OldAlone => {
                let module = agent.skill().module().clone();
                agent.set_skill(Skill::alone(module), second.clone());
            }
        }
        Ok(agent)
    }
}

/// Permutes the weights within each tensor.
fn shuffled(module: &Module, seed: RunSeed) -> Module {
    let mut module = module.clone();
    let places: Vec<_> = module.structure().tensors().collect();
    for (idx, place) in places.into_iter().enumerate() {
        let mut random = seed.stream(SHUFFLE, idx as u64);
        let numbers = &mut module.parameters_mut()[place.range];
        for last in (1..numbers.len()).rev() {
            numbers.swap(last, random.below(last as u32 + 1) as usize);
        }
    }
    module
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstream_agents::SceneShape;
    use touchstream_env::plain_stimuli::PlainStimuli;
    use touchstream_env::schedule::Schedule;
    use touchstream_env::stimuli::Split;
    use touchstream_env::stream::Stream;
    use touchstream_env::task::find_task;
    use touchstream_env::trial::ScreenRecipe;
    use touchstream_modules::composite::Voting;

    /// Three screens with equal features.
    struct Blank([f32; 3 * LEN]);

    const LEN: usize = 40;

    impl FeatureSource for Blank {
        fn shape(&self) -> SceneShape {
            SceneShape::without_maps(LEN)
        }
        fn index_of(&self, _screen: &ScreenRecipe) -> Option<u32> {
            Some(0)
        }
        fn scenes(&self) -> &[f32] {
            &self.0
        }
        fn copy_map(&self, _index: u32, out: &mut [f32]) {
            out.fill(0.0);
        }
        fn n_screens(&self) -> usize {
            3
        }
    }

    /// An agent whose parameters are all different.
    fn trained(settings: &AgentSettings, scenes: &Blank) -> Trained {
        let schedule = Schedule::single(find_task("sr-2way").unwrap());
        let stimuli = Arc::new(PlainStimuli::new(2));
        let (stream, _) = Stream::open(schedule, stimuli, Split::Train, RunSeed(1)).unwrap();
        let mut agent = Remap::new(settings.clone(), scenes.shape(), RunSeed(1)).unwrap().state();
        let numbers = agent.skill.module.parameters.iter_mut().enumerate();
        numbers.for_each(|(idx, number)| *number = idx as f32);
        Trained { checkpoint: "base".into(), identity: "base".into(), agent, stream: stream.snapshot() }
    }

    #[test]
    fn each_method_starts_from_its_own_module() {
        let scenes = Blank([0.1; 3 * LEN]);
        let settings = AgentSettings::for_task("ems", &find_task("sr-2way").unwrap()).unwrap();
        let trained = trained(&settings, &scenes);
        let numbers = &trained.agent.skill.module.parameters;
        let start = Start {
            trained: &trained,
            base: &settings,
            second: &settings,
            scenes: &scenes,
            seed: RunSeed(1),
        };
        let settings_of = |voting: VotingMethod| {
            VotingSettings::of(if voting.by_unit { Voting::Unit } else { Voting::Layer })
        };
        let skill = |method: SwitchMethod| start.agent(method, settings_of).unwrap().skill().clone();
        let old = |skill: &Skill| skill.controller().unwrap().old()[0].parameters().to_vec();

        let scratch = skill(SwitchMethod::Scratch);
        assert!(scratch.controller().is_none() && scratch.module().parameters() != numbers);
        let fine_tuning = skill(SwitchMethod::FineTuning);
        assert!(fine_tuning.controller().is_none() && fine_tuning.module().parameters() == numbers);
        for (method, control) in [
            (SwitchMethod::LAYER, SwitchMethod::LAYER_SHUFFLED),
            (SwitchMethod::UNIT, SwitchMethod::UNIT_SHUFFLED),
        ] {
            let voted = skill(method);
            assert_eq!(old(&voted), *numbers);
            assert_ne!(voted.module().parameters(), scratch.module().parameters(), "a module of its own");
            let shuffled = skill(control);
            check_shuffled(&shuffled, &old(&shuffled), numbers);
            assert_eq!(
                shuffled.module().parameters(),
                voted.module().parameters(),
                "the new modules are alike"
            );
        }
    }

    /// Every tensor has the same values in another order.
    fn check_shuffled(skill: &Skill, found: &[f32], numbers: &[f32]) {
        for place in skill.structure().tensors() {
            let (found, before) = (&found[place.range.clone()], &numbers[place.range]);
            let mut sorted = found.to_vec();
            sorted.sort_by(f32::total_cmp);
            assert_eq!(sorted, before, "{}", place.name);
            let n_kept = found.iter().zip(before).filter(|(found, before)| found == before).count();
            assert!(n_kept <= found.len() / 2, "{}: {n_kept} of {} stayed", place.name, found.len());
        }
    }
}
