//! Ways to go on to another task.

use crate::run::{RunError, Trained};
use std::sync::Arc;
use touchstream_agent::{AgentSettings, Remap, Scenes};
use touchstream_env::seed::{RunSeed, StreamName};
use touchstream_mind::Skill;
use touchstream_mind::composite::VotingSettings;
use touchstream_mind::module::Module;

const SHUFFLE: StreamName = StreamName::new("lab/shuffled-module");

/// How the second task is learned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Variant {
    /// By a new module alone: what everything else is held against.
    Scratch,
    /// By a new module beside the old one, under a controller.
    Voting(VotingSettings),
    /// The same, but the old module's weights are shuffled within each tensor: whatever is left of a gain is not transfer.
    Shuffled(VotingSettings),
    /// By the old module, which learns on.
    FineTuning,
}

/// What a second task starts from.
pub struct Start<'a, S> {
    /// The agent that has learned the base task.
    pub trained: &'a Trained,
    /// How an agent learns the base task.
    pub base: &'a AgentSettings,
    /// How it learns the second one.
    pub second: &'a AgentSettings,
    /// Features of the screens of both.
    pub scenes: &'a S,
    /// Seed of the run.
    pub seed: RunSeed,
}

impl Variant {
    /// An agent at the first step of the second task.
    pub fn agent(&self, start: &Start<'_, impl Scenes>) -> Result<Remap, RunError> {
        let Start { trained, base, second, scenes, seed } = *start;
        if *self == Self::Scratch {
            return Ok(Remap::new(second.clone(), scenes.shape(), seed)?);
        }
        let mut agent = Remap::new(base.clone(), scenes.shape(), seed)?;
        if !agent.restore(&trained.agent, scenes) {
            return Err(RunError::damaged(&trained.checkpoint, "it is of another base than this one"));
        }
        match *self {
            Self::Scratch => {}
            Self::Voting(voting) => agent.compose(second.clone(), voting, scenes),
            Self::Shuffled(voting) => {
                let old = Arc::new(shuffled(agent.skill().module(), seed));
                agent.compose_of(vec![old], second.clone(), voting, scenes);
            }
            Self::FineTuning => {
                let module = agent.skill().module().clone();
                agent.set_skill(Skill::alone(module), second.clone());
            }
        }
        Ok(agent)
    }
}

/// Every tensor keeps its numbers and loses their order.
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
    use touchstream_env::task::find_task;

    #[test]
    fn a_shuffled_module_has_the_same_numbers_elsewhere() {
        let settings = AgentSettings::for_task("ems", &find_task("sr-2way").unwrap()).unwrap();
        let structure = settings.check(SceneShape::without_maps(40)).unwrap();
        let numbers: Vec<f32> = (0..structure.n_parameters()).map(|idx| idx as f32).collect();
        let module = Module::new(structure.clone(), numbers.clone());
        let other = shuffled(&module, RunSeed(1));
        assert_ne!(other.parameters(), numbers);
        for place in structure.tensors() {
            let mut found = other.parameters()[place.range.clone()].to_vec();
            found.sort_by(f32::total_cmp);
            assert_eq!(found, numbers[place.range], "{}", place.name);
        }
        assert_eq!(other.parameters(), shuffled(&module, RunSeed(1)).parameters());
    }
}
