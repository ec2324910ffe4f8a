//! An agent's settings from words, and words from settings.

use crate::train_words::{
    DistWord, ExploreWord, FlattenedWord, InitialWord, PresetWord, TrainWords, VarianceWord,
};
use anyhow::{Result, bail};
use touchstream_agent::policy::{Dist, Explore, VarianceOf};
use touchstream_agent::{AgentSettings, SceneShape, TouchScale};
use touchstream_env::task::Task;
use touchstream_mind::module::{FlattenedScale, InitialWeights, MapShape};

const DEFAULT_EPSILON: f32 = 0.1;
const DEFAULT_TEMPERATURE: f32 = 0.01;

/// The settings that words ask for, on top of the defaults for a module and a task.
pub fn agent_settings(
    words: &TrainWords,
    module: &str,
    task: &Task,
    preset: PresetWord,
) -> Result<AgentSettings> {
    let mut agent = match preset {
        PresetWord::Default => AgentSettings::for_task(module, task)?,
        PresetWord::Paper => AgentSettings::as_printed(module, task)?,
    };
    let n_first = touchstream_agent::find_module(module)?.n_early_stages();
    if let Some(depth) = words.depth {
        if depth == 0 || depth > 64 {
            bail!("depth: {depth} is not in 1..=64");
        }
        let width = agent.module.units[0];
        agent.module.units = vec![width; n_first + depth];
    }
    match words.units.as_deref() {
        Some(&[width]) => agent.module.units.fill(width),
        Some(units) => {
            if let Some(depth) = words.depth
                && units.len() != n_first + depth
            {
                bail!("units: {} numbers do not fit a depth of {depth}", units.len());
            }
            agent.module.units = units.to_vec();
        }
        None => {}
    }
    macro_rules! take {
        ($($word:ident => $field:ident),*) => { $(if let Some(value) = words.$word { agent.$field = value; })* };
    }
    take!(k_b => k_b, k_f => k_f, candidates => n_candidates, targets => n_targets);
    take!(batch => batch_steps, dropout => dropout, learning_rate => learning_rate);
    if let Some(scale) = words.touch_scale {
        agent.touch_scale = TouchScale(scale);
    }
    if let Some(weight_decay) = words.weight_decay {
        agent.adam.weight_decay = weight_decay;
    }
    if let Some(word) = words.initial_weights {
        agent.initial_weights = match word {
            InitialWord::FanIn => InitialWeights::FanIn,
            InitialWord::Paper => InitialWeights::Paper,
        };
    }
    if words.flattened_scale.is_some() && !touchstream_agent::find_module(module)?.is_convolutional() {
        bail!("flattened-scale is for modules that convolve, and {module} does not");
    }
    if let Some(word) = words.flattened_scale {
        agent.flattened = Some(match word {
            FlattenedWord::One => FlattenedScale::One,
            FlattenedWord::Root => FlattenedScale::Root,
            FlattenedWord::Place => FlattenedScale::OnePlace,
        });
    }
    let dist = words.dist.unwrap_or(match agent.policy.dist {
        Dist::Identity => DistWord::Identity,
        Dist::Boltzmann { .. } => DistWord::Boltzmann,
    });
    agent.policy.dist = match dist {
        DistWord::Identity if words.temperature.is_some() => bail!("temperature is for --dist boltzmann"),
        DistWord::Identity => Dist::Identity,
        DistWord::Boltzmann => {
            Dist::Boltzmann { temperature: words.temperature.unwrap_or(DEFAULT_TEMPERATURE) }
        }
    };
    if let Some(word) = words.variance_of {
        agent.policy.variance_of = match word {
            VarianceWord::Maps => VarianceOf::Maps,
            VarianceWord::Distributions => VarianceOf::Distributions,
        };
    }
    if words.epsilon.is_some() && words.explore != Some(ExploreWord::EpsilonGreedy) {
        bail!("epsilon is for --explore epsilon-greedy");
    }
    if let Some(word) = words.explore {
        agent.policy.explore = match word {
            ExploreWord::Sample => Explore::Sample,
            ExploreWord::Greedy => Explore::Greedy,
            ExploreWord::EpsilonGreedy => {
                Explore::EpsilonGreedy { epsilon: words.epsilon.unwrap_or(DEFAULT_EPSILON) }
            }
        };
    }
    // Everything but the sizes of features can be refused before anything is opened.
    let any_map = MapShape { n_places: 1, n_channels: 1 };
    agent.check(SceneShape { scene_len: 1, map: Some(any_map) })?;
    Ok(agent)
}

/// Words that say all about an agent; of one that learns several tasks, all that does not depend on the task.
pub fn agent_words(agent: &AgentSettings, words: TrainWords, is_for_several: bool) -> TrainWords {
    let typed = words.clone();
    let (dist, temperature) = match agent.policy.dist {
        Dist::Identity => (DistWord::Identity, None),
        Dist::Boltzmann { temperature } => (DistWord::Boltzmann, Some(temperature)),
    };
    let (explore, epsilon) = match agent.policy.explore {
        Explore::Sample => (ExploreWord::Sample, None),
        Explore::Greedy => (ExploreWord::Greedy, None),
        Explore::EpsilonGreedy { epsilon } => (ExploreWord::EpsilonGreedy, Some(epsilon)),
    };
    let mut all = TrainWords {
        module: Some(agent.module.id.clone()),
        units: Some(agent.module.units.clone()),
        depth: None,
        k_b: Some(agent.k_b),
        k_f: Some(agent.k_f),
        touch_scale: Some(agent.touch_scale.0),
        candidates: Some(agent.n_candidates),
        targets: Some(agent.n_targets),
        dropout: Some(agent.dropout),
        batch: Some(agent.batch_steps),
        learning_rate: Some(agent.learning_rate),
        weight_decay: Some(agent.adam.weight_decay),
        initial_weights: Some(match agent.initial_weights {
            InitialWeights::FanIn => InitialWord::FanIn,
            InitialWeights::Paper => InitialWord::Paper,
        }),
        flattened_scale: agent.flattened.map(|scale| match scale {
            FlattenedScale::One => FlattenedWord::One,
            FlattenedScale::Root => FlattenedWord::Root,
            FlattenedScale::OnePlace => FlattenedWord::Place,
        }),
        dist: Some(dist),
        temperature,
        variance_of: Some(match agent.policy.variance_of {
            VarianceOf::Maps => VarianceWord::Maps,
            VarianceOf::Distributions => VarianceWord::Distributions,
        }),
        explore: Some(explore),
        epsilon,
        ..words
    };
    if is_for_several {
        (all.learning_rate, all.dist, all.temperature) = (typed.learning_rate, typed.dist, typed.temperature);
    }
    all
}
