//! An agent's settings from a configuration, and a configuration from settings.

use super::{Choice, Preset, RawConfig};
use crate::error::{Result, bail};
use touchstream_agents::policy::{Dist, Explore};
use touchstream_agents::{AgentSettings, SceneShape, TouchScale};
use touchstream_env::task::Task;
use touchstream_modules::module::MapShape;

/// The settings of a configuration; where it has none, the defaults for the module and task.
pub fn agent_settings(
    config: &RawConfig,
    module: &str,
    task: &Task,
    preset: Preset,
) -> Result<AgentSettings> {
    let mut agent = match preset {
        Preset::Default => AgentSettings::for_task(module, task)?,
        Preset::Normalized => AgentSettings::normalized(module, task)?,
        Preset::Paper => AgentSettings::as_printed(module, task)?,
    };
    let n_first = touchstream_agents::find_module(module)?.n_early_stages();
    if let Some(depth) = config.depth {
        if depth == 0 || depth > 64 {
            bail!(Settings, "depth: {depth} is not in 1..=64");
        }
        let width = agent.module.units[0];
        agent.module.units = vec![width; n_first + depth];
    }
    if config.units.as_deref().is_some_and(|units| units.contains(&0)) {
        bail!(Settings, "units: 0 is below 1");
    }
    match config.units.as_deref() {
        Some(&[width]) => agent.module.units.fill(width),
        Some(units) => {
            if let Some(depth) = config.depth
                && units.len() != n_first + depth
            {
                bail!(Settings, "units: {} numbers do not fit a depth of {depth}", units.len());
            }
            agent.module.units = units.to_vec();
        }
        None => {}
    }
    macro_rules! take {
        ($($word:ident => $field:ident),*) => { $(if let Some(value) = config.$word { agent.$field = value; })* };
    }
    take!(k_b => k_b, k_f => k_f, candidates => n_candidates, targets => n_targets);
    take!(batch => batch_steps, dropout => dropout, learning_rate => learning_rate);
    if let Some(scale) = config.touch_scale {
        agent.touch_scale = TouchScale(scale);
    }
    if let Some(weight_decay) = config.weight_decay {
        agent.adam.weight_decay = weight_decay;
    }
    if let Some(initial_weights) = config.initial_weights {
        agent.initial_weights = initial_weights;
    }
    if config.flattened_scale.is_some() && !touchstream_agents::find_module(module)?.is_convolutional() {
        bail!(Settings, "flattened-scale is for modules that convolve, and {module} does not");
    }
    if config.flattened_scale.is_some() {
        agent.flattened = config.flattened_scale;
    }
    if let Some(dist) = config.dist {
        agent.policy.dist = dist;
    }
    match (&mut agent.policy.dist, config.temperature) {
        (Dist::Identity, Some(_)) => bail!(Settings, "temperature is for --dist boltzmann"),
        (Dist::Boltzmann { temperature }, Some(wanted)) => *temperature = wanted,
        (_, None) => {}
    }
    if let Some(variance_of) = config.variance_of {
        agent.policy.variance_of = variance_of;
    }
    if let Some(explore) = config.explore {
        agent.policy.explore = explore;
    }
    match (&mut agent.policy.explore, config.epsilon) {
        (Explore::EpsilonGreedy { epsilon }, Some(wanted)) if config.explore.is_some() => *epsilon = wanted,
        (_, Some(_)) => bail!(Settings, "epsilon is for --explore epsilon-greedy"),
        (_, None) => {}
    }
    // Checks everything that does not depend on the sizes of features, before anything is opened.
    let any_map = MapShape { n_places: 1, n_channels: 1 };
    agent.check(SceneShape { scene_len: 1, map: Some(any_map) })?;
    Ok(agent)
}

/// The complete settings of an agent as a configuration; for several tasks, without those that differ between tasks.
pub fn raw_from_settings(agent: &AgentSettings, config: RawConfig, is_for_several: bool) -> RawConfig {
    let typed = config.clone();
    let temperature = match agent.policy.dist {
        Dist::Identity => None,
        Dist::Boltzmann { temperature } => Some(temperature),
    };
    let epsilon = match agent.policy.explore {
        Explore::Sample | Explore::Greedy => None,
        Explore::EpsilonGreedy { epsilon } => Some(epsilon),
    };
    let mut all = RawConfig {
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
        initial_weights: Some(agent.initial_weights),
        flattened_scale: agent.flattened,
        dist: Dist::from_name(agent.policy.dist.name()),
        temperature,
        variance_of: Some(agent.policy.variance_of),
        explore: Explore::from_name(agent.policy.explore.name()),
        epsilon,
        ..config
    };
    if is_for_several {
        (all.learning_rate, all.dist, all.temperature) = (typed.learning_rate, typed.dist, typed.temperature);
    }
    all
}
