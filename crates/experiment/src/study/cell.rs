//! The runs of a study: names, facts and plans.

use crate::config::{Choice, Preset, RawConfig, parse_task_arg};
use crate::error::{Context, Result, bail};
use crate::study::Job;
use crate::study::pair::{Pair, pair_of};
use crate::study::run_name::folder_name;
use crate::study::scale::Scale;
use crate::study::spec::StudySpec;
use crate::study::switching::PairPlan;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use touchstream_agents::{AgentSettings, TouchScale, find_module};
use touchstream_analysis::{RunKind, SwitchMethod};
use touchstream_env::task::Task;
use touchstream_modules::module::ModuleKind;

/// The identification of a run in its study: `run.json` in its folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct RunFacts {
    pub preset: Preset,
    pub module: String,
    /// The settings that vary, such as `units=16`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub varied: String,
    pub task: String,
    pub seed: u64,
    #[serde(rename = "part")]
    pub kind: RunKind,
}

/// One run of a study.
#[derive(Clone, Debug)]
pub struct Cell {
    pub name: String,
    pub facts: RunFacts,
    pub what: CellPlan,
    pub n_steps: u64,
    /// Estimated core seconds.
    pub cost: f64,
}

#[derive(Clone, Debug)]
pub enum CellPlan {
    /// One task, learned from scratch.
    Alone(Box<RawConfig>),
    /// The first task of a pair.
    Base(Box<PairPlan>),
    /// The second task of a pair.
    Second(Box<PairPlan>),
}

impl Cell {
    pub fn job(&self) -> Job {
        let needs = match &self.facts.kind {
            RunKind::Second { base, .. } => Some(base.clone()),
            RunKind::SingleTask | RunKind::Base => None,
        };
        Job { name: self.name.clone(), needs }
    }
}

/// All runs of a study. Bases come first, then the runs of the first seed, short ones first, so that an unfinished
/// study already has results. The runs of the last seed come longest first, so that all cores are busy to the end.
pub fn cells_of(spec: &StudySpec) -> Result<Vec<Cell>> {
    let mut cells = BTreeMap::new();
    for (label, varied) in spec.variations()? {
        for &preset in &spec.presets {
            for module in &spec.modules {
                let method = Method { spec, preset, module, label: &label, varied: &varied };
                method.add_alone(&mut cells)?;
                method.add_switches(&mut cells)?;
            }
        }
    }
    let mut cells: Vec<Cell> = cells.into_values().collect();
    let last_seed = spec.seeds.last().copied();
    cells.sort_by(|a, b| {
        let rank = |cell: &Cell| (cell.facts.kind != RunKind::Base, cell.facts.seed);
        let by_cost = a.cost.total_cmp(&b.cost);
        let by_cost = if Some(a.facts.seed) == last_seed { by_cost.reverse() } else { by_cost };
        rank(a).cmp(&rank(b)).then(by_cost).then_with(|| a.name.cmp(&b.name))
    });
    Ok(cells)
}

/// The runs that are not complete. A complete study needs a base only if a run that starts from it is missing, or if no
/// run starts from it.
pub fn missing_of<'a>(
    cells: impl IntoIterator<Item = &'a Cell> + Clone,
    complete: &BTreeSet<String>,
) -> Vec<&'a Cell> {
    let missing = || cells.clone().into_iter().filter(|cell| !complete.contains(&cell.name));
    let all_needed: BTreeSet<String> =
        cells.clone().into_iter().filter_map(|cell| cell.job().needs).collect();
    let needed: BTreeSet<String> = missing().filter_map(|cell| cell.job().needs).collect();
    missing().filter(|cell| needed.contains(&cell.name) || !all_needed.contains(&cell.name)).collect()
}

/// A module under one preset and variation.
struct Method<'a> {
    spec: &'a StudySpec,
    preset: Preset,
    module: &'a str,
    label: &'a str,
    varied: &'a RawConfig,
}

impl Method<'_> {
    fn config(&self, task: &Task) -> Result<RawConfig> {
        let spec = self.spec;
        let mut config = self.varied.clone().over(spec.settings_for(task.id()));
        config.check_counts()?;
        config.module = Some(self.module.to_owned());
        config.preset = Some(self.preset);
        Ok(config)
    }

    fn facts(&self, task: &Task, seed: u64, kind: RunKind) -> RunFacts {
        RunFacts {
            preset: self.preset,
            module: self.module.to_owned(),
            varied: self.label.to_owned(),
            task: task.id().to_owned(),
            seed,
            kind,
        }
    }

    /// `sr-2way--ems--units=16--paper--seed-3`.
    fn name(&self, start: &str, seed: u64) -> String {
        let mut name = start.to_owned();
        if !self.label.is_empty() {
            name += &format!("--{}", self.label);
        }
        if self.preset != Preset::Default {
            name += &format!("--{}", self.preset.name());
        }
        // All seeds have the same name before `--seed-`.
        format!("{}--seed-{seed}", folder_name(&name))
    }

    fn add_alone(&self, cells: &mut BTreeMap<String, Cell>) -> Result<()> {
        let Self { spec, module, preset, .. } = *self;
        for word in &spec.tasks {
            let task = parse_task_arg(word)?;
            let mut config = self.config(&task)?;
            config.task = Some(word.clone());
            config.steps = Some(spec.steps.unwrap_or_else(|| spec.scale.steps(&task)));
            config.evaluation_trials.get_or_insert(spec.scale.evaluation_trials());
            config.map_examples.get_or_insert(0);
            let n_steps = config.steps.unwrap_or(0);
            config.evaluate_every.get_or_insert(n_steps.div_ceil(spec.scale.n_evaluations()));
            if !spec.rates.is_empty() {
                let rate = spec.rates.get(module).and_then(|rates| rates.get(task.id()));
                let Some(&rate) = rate else {
                    bail!(Settings, "rates: there is none for {module} on {}", task.id())
                };
                config.learning_rate = Some(rate);
            }
            let agent = crate::config::agent_settings(&config, module, &task, preset)
                .with_context(|| format!("{module} on {}", task.id()))?;
            for &seed in &spec.seeds {
                let name = self.name(&format!("{}--{module}", task.id()), seed);
                let config = RawConfig { seed: Some(seed), ..config.clone() };
                let facts = self.facts(&task, seed, RunKind::SingleTask);
                let n_trials =
                    spec.scale.n_evaluations() as f64 * config.evaluation_trials.unwrap_or(0) as f64;
                let n_played = n_steps as f64 + n_trials * task.steps_per_trial() as f64;
                let cost = n_played * step_cost(&agent);
                let what = CellPlan::Alone(Box::new(config));
                insert(cells, Cell { name, facts, what, n_steps, cost })?;
            }
        }
        Ok(())
    }

    fn add_switches(&self, cells: &mut BTreeMap<String, Cell>) -> Result<()> {
        let Self { spec, module, .. } = *self;
        for word in &spec.switches {
            let pair: Pair = pair_of(word)?;
            let mut config = self.config(&pair.second)?;
            config.evaluation_trials.get_or_insert(match spec.scale {
                Scale::Smoke => spec.scale.evaluation_trials(),
                Scale::Short | Scale::Paper => 200,
            });
            let plan = PairPlan::new(config, pair, spec)?;
            let [base_settings, second_settings] = &plan.settings;
            let width = base_settings.module.units.first().copied().unwrap_or(0);
            let TouchScale(scale) = base_settings.touch_scale;
            for &seed in &spec.seeds {
                let (base, second) = (&plan.pair.base, &plan.pair.second);
                // The features of a custom pair are centred on its own tasks, so its base cannot be shared; those of
                // the paper's switches can.
                let whose =
                    if plan.pair.is_named { String::new() } else { format!("--before-{}", second.id()) };
                let base_name = format!("base--{}--{module}--{width}--touch-scale-{scale}{whose}", base.id());
                let base_name = self.name(&base_name, seed);
                let [base_length, second_length] = plan.lengths;
                let n_steps = base_length.n_steps;
                let cost = n_steps as f64 * step_cost(base_settings);
                let facts = self.facts(base, seed, RunKind::Base);
                let what = CellPlan::Base(Box::new(plan.clone()));
                // Several switches start from the same base.
                let base_cell = Cell { name: base_name.clone(), facts, what, n_steps, cost };
                cells.entry(base_name.clone()).or_insert(base_cell);
                for way in &spec.ways {
                    let method: SwitchMethod = way.parse()?;
                    let kind = RunKind::Second {
                        switch: plan.pair.name.clone(),
                        base_task: base.id().to_owned(),
                        base: base_name.clone(),
                        way: method,
                    };
                    let learns_alone = matches!(method, SwitchMethod::Scratch | SwitchMethod::FineTuning);
                    let n_modules = if learns_alone { 1.0 } else { 2.0 };
                    let cell = Cell {
                        name: self.name(&format!("{}--{module}--{method}", plan.pair.name), seed),
                        facts: self.facts(second, seed, kind),
                        what: CellPlan::Second(Box::new(plan.clone())),
                        n_steps: second_length.n_steps,
                        cost: second_length.n_steps as f64 * step_cost(second_settings) * n_modules,
                    };
                    insert(cells, cell)?;
                }
            }
        }
        Ok(())
    }
}

fn insert(cells: &mut BTreeMap<String, Cell>, cell: Cell) -> Result<()> {
    match cells.contains_key(&cell.name) {
        true => bail!(Settings, "two runs of the study would be called {}", cell.name),
        false => _ = cells.insert(cell.name.clone(), cell),
    }
    Ok(())
}

/// Estimated core seconds per step: multiply-adds, and a constant for everything else.
fn step_cost(agent: &AgentSettings) -> f64 {
    const SECS_A_STEP: f64 = 2e-5;
    const SECS_A_PRODUCT: f64 = 2.5e-11;
    const SCENE_LEN: f64 = 4096.0;
    /// Multiply-adds of conv-EMS at all positions of a map.
    const CONVOLUTIONS: f64 = 1.1e8;
    let units = &agent.module.units;
    let first = units.first().copied().unwrap_or(0) as f64 * SCENE_LEN * (agent.k_b + 1) as f64 * 3.0;
    let kind = find_module(&agent.module.id).ok();
    let n_parts = kind.map_or(1, |kind| kind.layers.n_parts());
    let behind: f64 = units.windows(2).map(|pair| pair[0] as f64 * pair[1] as f64 * n_parts as f64).sum();
    // Training on a touch takes three times as long as predicting its reward.
    let n_touches = agent.n_candidates as f64 + 3.0 * agent.n_targets as f64;
    let convolutions = if kind.is_some_and(ModuleKind::is_convolutional) { CONVOLUTIONS } else { 0.0 };
    SECS_A_STEP + SECS_A_PRODUCT * (first + convolutions + behind * n_touches)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Choice;
    use crate::study::catalog::{NamedStudy, named_study};

    #[test]
    fn every_named_study_has_runs_of_its_own() {
        for &(study, ..) in NamedStudy::CHOICES {
            for scale in [Scale::Smoke, Scale::Short, Scale::Paper] {
                let spec = named_study(study, scale).checked().unwrap();
                let cells = cells_of(&spec).unwrap();
                assert!(!cells.is_empty(), "{study:?}");
                let of_bases = cells.iter().filter_map(|cell| cell.job().needs);
                for base in of_bases {
                    assert!(cells.iter().any(|cell| cell.name == base), "{study:?}: {base}");
                }
            }
        }
        let spec = named_study(NamedStudy::Modules, Scale::Paper).checked().unwrap();
        assert_eq!(cells_of(&spec).unwrap().len(), 24 * 12 * 5);
        let spec = named_study(NamedStudy::Switching, Scale::Paper).checked().unwrap();
        let cells = cells_of(&spec).unwrap();
        let n_seconds = cells.iter().filter(|cell| cell.job().needs.is_some()).count();
        // Fifteen switches, two modules, from scratch and two votings, three seeds.
        assert_eq!(n_seconds, 15 * 2 * 3 * 3);
    }

    /// The default touch scale depends on both tasks, so only switches with the same scale share a base.
    #[test]
    fn a_base_serves_those_that_count_touches_as_it_does() {
        let mut spec = named_study(NamedStudy::Switching, Scale::Short);
        (spec.switches, spec.modules) =
            (["1", "2", "4"].map(Into::into).to_vec(), vec!["none-relu-large".into()]);
        let cells = cells_of(&spec.checked().unwrap()).unwrap();
        let base_of = |switch: &str| {
            let of_switch = cells.iter().find(|cell| cell.name.starts_with(&format!("{switch}--")));
            of_switch.and_then(|cell| cell.job().needs).unwrap()
        };
        assert_eq!(base_of("switch-1"), base_of("switch-2"));
        assert_ne!(base_of("switch-1"), base_of("switch-4"));
    }

    /// A base is missing only while a run that starts from it is missing.
    #[test]
    fn bases_are_missing_as_long_as_something_starts_from_them() {
        let mut spec = named_study(NamedStudy::Switching, Scale::Smoke);
        (spec.switches, spec.modules, spec.seeds) = (vec!["1".into()], vec!["ems".into()], vec![1]);
        let cells = cells_of(&spec.checked().unwrap()).unwrap();
        let (bases, seconds): (Vec<&Cell>, Vec<&Cell>) =
            cells.iter().partition(|cell| cell.facts.kind == RunKind::Base);
        let mut complete: BTreeSet<String> = seconds.iter().map(|cell| cell.name.clone()).collect();
        let missing = |complete: &BTreeSet<String>| missing_of(&cells, complete).len();
        assert_eq!((bases.len(), missing(&complete)), (1, 0));
        complete.pop_first();
        assert_eq!(missing(&complete), 2);
        assert_eq!(missing_of(bases.iter().copied(), &complete).len(), 1);
    }

    #[test]
    fn switches_are_evaluated_as_often_as_asked_for() {
        let lengths_with = |n: u64| {
            let mut spec = named_study(NamedStudy::Switching, Scale::Smoke);
            (spec.switches, spec.settings.evaluate_every) = (vec!["1".into()], Some(n));
            let of_cell = |cell: &Cell| match &cell.what {
                CellPlan::Second(plan) => plan.lengths.map(|length| length.evaluate_every),
                _ => [n; 2],
            };
            cells_of(&spec.checked()?).map(|cells| cells.iter().map(of_cell).collect::<Vec<_>>())
        };
        assert!(lengths_with(40).unwrap().iter().all(|every| *every == [40; 2]));
        assert!(lengths_with(0).unwrap_err().to_string().contains("evaluate-every"));
    }

    #[test]
    fn the_first_seed_comes_first_and_the_last_one_begins_with_long_runs() {
        let spec = named_study(NamedStudy::Modules, Scale::Short).checked().unwrap();
        let cells = cells_of(&spec).unwrap();
        assert!(cells.is_sorted_by_key(|cell| cell.facts.seed));
        let of_seed = |seed| cells.iter().filter(move |cell| cell.facts.seed == seed).collect::<Vec<_>>();
        let (first, last) = (of_seed(1), of_seed(3));
        assert!(first.is_sorted_by(|a, b| a.cost <= b.cost) && last.is_sorted_by(|a, b| a.cost >= b.cost));
        assert_eq!(last[0].facts.module, "none-relu-large");
    }
}
