//! The areas of several modules on their tasks. A task on which they cannot be compared does not exclude the other
//! tasks.

use super::complete::{Complete, complete};
use crate::counted::count;
use crate::left_out::LeftOut;
use crate::paper::{MIN_SEEDS, twelve_tasks};
use crate::run::{Run, keep_same_steps};
use crate::statistics::{
    LearningCurve, ModuleArea, PooledEstimate, Resampling, Run as Score, Scores, TaskAreas, mean, task_areas,
};
use std::collections::{BTreeMap, BTreeSet};
use touchstream_env::seed::RunSeed;

/// A fixed seed, so that published intervals can be recomputed.
pub(crate) fn resampling() -> Resampling {
    Resampling::new(RunSeed(1))
}

/// Areas of modules on each task on which they can be compared.
pub(crate) struct Compared {
    pub areas: Vec<TaskAreas>,
    /// The modules that have all of [`Compared::tasks`].
    pub modules: Vec<String>,
    /// The tasks, among the paper's twelve, that TA-N-AUC is averaged over.
    pub tasks: Vec<String>,
    pub left_out: Vec<LeftOut>,
}

impl Compared {
    /// `runs` share a kind and a preset.
    pub fn new(runs: &[&Run]) -> Self {
        let mut tasks: BTreeMap<&str, Vec<&Run>> = BTreeMap::new();
        runs.iter().for_each(|run| tasks.entry(&run.record.task).or_default().push(run));
        let mut left_out = Vec::new();
        let areas: Vec<TaskAreas> =
            tasks.into_iter().filter_map(|(task, runs)| areas_of(task, runs, &mut left_out)).collect();
        for alone in areas.iter().filter(|areas| !is_compared(areas)) {
            let why = format!("{} is alone on it: there is no N-AUC of one module", alone.modules[0].module);
            left_out.push(LeftOut::new(&alone.task, why));
        }
        let twelve: BTreeSet<&str> = twelve_tasks().collect();
        let compared = || areas.iter().filter(|areas| is_compared(areas));
        for other in compared().filter(|areas| !twelve.contains(areas.task.as_str())) {
            left_out.push(LeftOut::new(&other.task, "it is none of the twelve tasks of TA-N-AUC"));
        }
        let cells = compared().filter(|areas| twelve.contains(areas.task.as_str())).flat_map(|areas| {
            areas.modules.iter().map(|module| (module.module.as_str(), areas.task.as_str()))
        });
        let Complete { modules, tasks, modules_gone, tasks_gone } = complete(&cells.collect());
        left_out.extend(modules_gone.iter().map(|&(module, n)| {
            LeftOut::new(module, format!("for TA-N-AUC it lacks {} that others have", count(n, "task")))
        }));
        left_out.extend(tasks_gone.iter().map(|&(task, n)| {
            LeftOut::new(task, format!("for TA-N-AUC {} of those compared lack it", count(n, "module")))
        }));
        let owned = |names: BTreeSet<&str>| names.into_iter().map(String::from).collect::<Vec<_>>();
        let (modules, tasks) = (owned(modules), owned(tasks));
        Self { areas, modules, tasks, left_out }
    }

    /// The areas of a module on a task.
    pub fn cell(&self, module: &str, task: &str) -> Option<(&TaskAreas, &ModuleArea)> {
        let areas = self.areas.iter().find(|areas| areas.task == task)?;
        Some((areas, areas.modules.iter().find(|one| one.module == module)?))
    }

    /// The normalized areas of the modules and tasks that TA-N-AUC is computed from.
    pub fn scores(&self) -> Option<Scores> {
        let (modules, tasks) = (&self.modules, &self.tasks);
        let areas = self.areas.iter().filter(|areas| tasks.contains(&areas.task));
        let runs = areas.flat_map(TaskAreas::normalized_runs);
        Scores::new(runs.filter(|run| modules.iter().any(|module| module == run.method)))
    }

    /// N-AUC of a module minus that of another, over those of the twelve tasks that both have; seeds are paired.
    pub fn difference(&self, module: &str, other: &str) -> Option<PooledEstimate> {
        let mut scores = Vec::new();
        for task in twelve_tasks() {
            let (Some((areas, one)), Some((_, other))) = (self.cell(module, task), self.cell(other, task))
            else {
                continue;
            };
            let best = areas.modules.iter().map(|module| module.area).fold(f64::NEG_INFINITY, f64::max);
            let pairs = areas.seeds.iter().zip(one.seed_areas.iter().zip(&other.seed_areas));
            scores.extend(pairs.map(|(&seed, (one, other))| Score {
                method: module,
                task,
                seed,
                score: (one - other) / best,
            }));
        }
        let scores = Scores::new(scores)?;
        Some(mean(scores.method(module)?, &resampling()))
    }
}

/// Whether there are at least two modules, without which there is no N-AUC.
pub(crate) fn is_compared(areas: &TaskAreas) -> bool {
    areas.modules.len() > 1
}

/// Excludes modules with so few seeds that all modules together would share fewer than [`MIN_SEEDS`].
fn areas_of(task: &str, mut runs: Vec<&Run>, left_out: &mut Vec<LeftOut>) -> Option<TaskAreas> {
    keep_same_steps(&mut runs, left_out);
    let mut modules: BTreeMap<&str, BTreeSet<u64>> = BTreeMap::new();
    for run in &runs {
        modules.entry(&run.record.module).or_default().insert(run.record.seed);
    }
    loop {
        let n_seeds = |seeds: &BTreeSet<u64>| seeds.len();
        let n_wanted = modules.values().map(n_seeds).max()?.min(MIN_SEEDS);
        let first = modules.values().next()?;
        let is_shared = |seed: &&u64| modules.values().all(|seeds| seeds.contains(seed));
        let n_shared = first.iter().filter(is_shared).count();
        if n_shared >= n_wanted {
            break;
        }
        // Among the modules with the fewest seeds, the last by name.
        let (&module, seeds) = modules.iter().rev().min_by_key(|(_, seeds)| seeds.len())?;
        let why = format!(
            "on {task} it has {}, and {n_shared} would be left that all modules have",
            count(seeds.len(), "seed")
        );
        left_out.push(LeftOut::new(module, why));
        modules.remove(module);
    }
    let curves: Vec<LearningCurve> = runs
        .iter()
        .filter(|run| modules.contains_key(run.record.module.as_str()))
        .map(|run| LearningCurve {
            module: &run.record.module,
            task,
            seed: run.record.seed,
            points: &run.curve,
        })
        .collect();
    match task_areas(&curves) {
        Ok(mut areas) => areas.pop(),
        Err(error) => {
            left_out.push(LeftOut::new(task, error.to_string()));
            None
        }
    }
}
