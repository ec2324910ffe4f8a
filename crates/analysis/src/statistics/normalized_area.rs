//! N-AUC and TA-N-AUC: the area under a module's learning curve, divided by that of the best module.

use super::curve::{Horizon, area, horizon};
use super::error::{CurveError, StatisticsError};
use super::scores::Run;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LearningCurve<'a> {
    pub module: &'a str,
    pub task: &'a str,
    pub seed: u64,
    /// Step and validation reward of each evaluation, in the order of steps.
    pub points: &'a [(u64, f64)],
}

/// The areas of all modules on one task, up to a common horizon and over the same seeds.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskAreas {
    pub task: String,
    /// Computed from each module's mean curve over the seeds.
    pub horizon: Horizon,
    /// The seeds that every module has.
    pub seeds: Vec<u64>,
    /// Number of seeds that at least one module lacks; their runs are ignored.
    pub n_seeds_left_out: usize,
    pub modules: Vec<ModuleArea>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ModuleArea {
    pub module: String,
    /// Mean reward up to the horizon, for each seed.
    pub seed_areas: Vec<f64>,
    pub area: f64,
    /// The mean area divided by that of the best module, whose N-AUC is therefore 1. `None` if there is no other module
    /// to compare with.
    pub n_auc: Option<f64>,
}

type Points<'a> = &'a [(u64, f64)];
/// By module, then by seed.
type TaskCurves<'a> = BTreeMap<&'a str, BTreeMap<u64, Points<'a>>>;

/// The areas on all tasks, sorted by task name. All curves of a task must have the same steps.
pub fn task_areas(curves: &[LearningCurve]) -> Result<Vec<TaskAreas>, StatisticsError> {
    let mut tasks: BTreeMap<&str, TaskCurves> = BTreeMap::new();
    for &LearningCurve { module, task, seed, points } in curves {
        let of_module = tasks.entry(task).or_default().entry(module).or_default();
        if of_module.insert(seed, points).is_some() {
            return Err(StatisticsError::Twice { method: module.to_owned(), task: task.to_owned(), seed });
        }
    }
    if tasks.is_empty() {
        return Err(StatisticsError::NoRuns);
    }
    tasks.into_iter().map(|(task, curves)| TaskAreas::new(task, curves)).collect()
}

impl TaskAreas {
    /// `curves` is not empty.
    fn new(task: &str, curves: TaskCurves) -> Result<Self, StatisticsError> {
        let all_seeds: BTreeSet<u64> = curves.values().flat_map(|seeds| seeds.keys().copied()).collect();
        let is_shared = |seed: &u64| curves.values().all(|seeds| seeds.contains_key(seed));
        let seeds: Vec<u64> = all_seeds.iter().copied().filter(is_shared).collect();
        if seeds.is_empty() {
            return Err(StatisticsError::NoSharedSeed { task: task.to_owned() });
        }
        // `[module][seed]`
        let shared: Vec<Vec<Points>> =
            curves.values().map(|of_module| seeds.iter().map(|seed| of_module[seed]).collect()).collect();
        for (&module, curves) in curves.keys().zip(&shared) {
            for (&points, &seed) in curves.iter().zip(&seeds) {
                check_curve(points, shared[0][0]).map_err(|source| StatisticsError::Curve {
                    module: module.to_owned(),
                    task: task.to_owned(),
                    seed,
                    source,
                })?;
            }
        }
        let mean_curves: Vec<Vec<(u64, f64)>> = shared.iter().map(|curves| mean_curve(curves)).collect();
        let mean_curves: Vec<Points> = mean_curves.iter().map(Vec::as_slice).collect();
        let of_task = |source| StatisticsError::MeanCurve { task: task.to_owned(), source };
        let horizon = horizon(&mean_curves).map_err(of_task)?;
        let area_until =
            |points: &Points| area(&points[..horizon.n_evaluations]).map(|area| area.mean_reward);
        let mut modules = Vec::with_capacity(shared.len());
        for (&module, curves) in curves.keys().zip(&shared) {
            let seed_areas: Vec<f64> =
                curves.iter().map(area_until).collect::<Result<_, _>>().map_err(of_task)?;
            let area = seed_areas.iter().sum::<f64>() / seeds.len() as f64;
            modules.push(ModuleArea { module: module.to_owned(), seed_areas, area, n_auc: None });
        }
        let best = modules.iter().map(|module| module.area).fold(f64::NEG_INFINITY, f64::max);
        if !(best > 0.0 && best.is_finite()) {
            return Err(StatisticsError::NoPositiveArea { task: task.to_owned(), area: best });
        }
        if modules.len() > 1 {
            modules.iter_mut().for_each(|module| module.n_auc = Some(module.area / best));
        }
        let n_seeds_left_out = all_seeds.len() - seeds.len();
        Ok(Self { task: task.to_owned(), horizon, seeds, n_seeds_left_out, modules })
    }

    /// Each seed's area divided by that of the best module, as scores for means and comparisons; empty for a single
    /// module. TA-N-AUC is their [`mean`](super::mean).
    ///
    /// The divisor is constant: resampling does not choose the best module again. So a difference between two modules
    /// is a difference between their areas in the same unit in all resamples, and its interval is that of a mean. If
    /// the best module were chosen in each resample, the divisor would be the largest of several noisy areas. It would
    /// on average be larger than the best module's area, the more so the more modules are about equally good, and the
    /// bootstrap of a maximum is not consistent: more seeds would not help. For the same reason an interval may end
    /// above 1: with other seeds a module may learn more than the best module did with these.
    pub fn normalized_runs(&self) -> impl Iterator<Item = Run<'_>> {
        let best = self.modules.iter().map(|module| module.area).fold(f64::NEG_INFINITY, f64::max);
        let compared = self.modules.iter().filter(|module| module.n_auc.is_some());
        compared.flat_map(move |module| {
            let areas = self.seeds.iter().zip(&module.seed_areas);
            areas.map(move |(&seed, area)| Run {
                method: &module.module,
                task: &self.task,
                seed,
                score: area / best,
            })
        })
    }
}

fn check_curve(points: Points, first: Points) -> Result<(), CurveError> {
    area(points)?;
    let same_steps = points.iter().map(|point| point.0).eq(first.iter().map(|point| point.0));
    if same_steps { Ok(()) } else { Err(CurveError::OtherSteps) }
}

/// `curves` is not empty; all have the same steps.
fn mean_curve(curves: &[Points]) -> Vec<(u64, f64)> {
    let mean_at = |at: usize| curves.iter().map(|points| points[at].1).sum::<f64>() / curves.len() as f64;
    curves[0].iter().enumerate().map(|(at, point)| (point.0, mean_at(at))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::aggregate::mean;
    use crate::statistics::resampling::Resampling;
    use crate::statistics::scores::Scores;
    use crate::statistics::size::SampleSize;
    use touchstream_env::seed::RunSeed;

    const FAST: Points = &[(0, 0.0), (100, 0.8), (200, 0.8), (300, 0.8)];
    const FASTER: Points = &[(0, 0.2), (100, 1.0), (200, 1.0), (300, 1.0)];
    const SLOW: Points = &[(0, 0.0), (100, 0.2), (200, 0.4), (300, 0.9)];
    const ZERO: Points = &[(0, 0.0), (100, 0.0)];

    fn curve<'a>(module: &'a str, task: &'a str, seed: u64, points: Points<'a>) -> LearningCurve<'a> {
        LearningCurve { module, task, seed, points }
    }

    #[test]
    fn areas_are_divided_by_the_best_over_shared_seeds_until_the_horizon() {
        let curves = [
            curve("a", "t", 1, FAST),
            curve("a", "t", 2, FASTER),
            curve("b", "t", 1, FAST),
            curve("b", "t", 2, FAST),
            curve("c", "t", 2, SLOW),
            curve("c", "t", 1, SLOW),
            // A seed that the other modules lack.
            curve("c", "t", 3, FASTER),
        ];
        let found = &task_areas(&curves).unwrap()[0];
        assert_eq!((found.task.as_str(), &found.seeds[..], found.n_seeds_left_out), ("t", &[1, 2][..], 1));
        let wanted = Horizon { step: 100, n_evaluations: 2, n_converged: 2, n_learned: 3, n_modules: 3 };
        assert_eq!(found.horizon, wanted);
        // Areas up to step 100: a has 0.4 and 0.6, b has 0.4 twice, c has 0.1 twice.
        for (module, (name, area)) in found.modules.iter().zip([("a", 0.5), ("b", 0.4), ("c", 0.1)]) {
            assert_eq!(module.module, name);
            assert!((module.area - area).abs() < 1e-12, "{module:?}");
            assert!((module.n_auc.unwrap() - area / 0.5).abs() < 1e-12, "{module:?}");
        }
        assert_eq!(found.modules[0].seed_areas.len(), 2);
    }

    #[test]
    fn task_averages_are_means_of_the_tasks() {
        let curves = ["t", "u"].map(|task| {
            let other = if task == "t" { FAST } else { SLOW };
            [1, 2].map(|seed| [curve("a", task, seed, FASTER), curve("b", task, seed, other)])
        });
        let tasks = task_areas(curves.concat().as_flattened()).unwrap();
        let scores = Scores::new(tasks.iter().flat_map(TaskAreas::normalized_runs)).unwrap();
        let found =
            ["a", "b"].map(|module| mean(scores.method(module).unwrap(), &Resampling::new(RunSeed(1))));
        let size = SampleSize { n_runs: 4, n_tasks: 2, fewest_seeds: 2, most_seeds: 2 };
        assert!(found.iter().all(|average| average.size == size));
        let of_task = |task: usize, module: usize| tasks[task].modules[module].n_auc.unwrap();
        let of_tasks = |module: usize| (of_task(0, module) + of_task(1, module)) / 2.0;
        assert_eq!(found[0].value, 1.0);
        assert!((found[1].value - of_tasks(1)).abs() < 1e-12 && found[1].value < 0.9, "{found:?}");
    }

    #[test]
    fn one_module_alone_has_areas_and_no_share_of_itself() {
        let tasks = task_areas(&[curve("a", "t", 1, FAST), curve("a", "t", 2, FASTER)]).unwrap();
        let alone = &tasks[0].modules[0];
        assert_eq!((alone.n_auc, alone.seed_areas.len(), tasks[0].horizon.step), (None, 2, 100));
        assert_eq!(tasks[0].normalized_runs().count(), 0);
    }

    #[test]
    fn what_cannot_be_compared_is_refused() {
        #[track_caller]
        fn check(curves: &[LearningCurve], message: &str) {
            assert_eq!(task_areas(curves).unwrap_err().to_string(), message);
        }
        check(&[curve("a", "t", 1, FAST), curve("a", "t", 1, FAST)], "a on t with seed 1 is there twice");
        check(
            &[curve("a", "t", 1, FAST), curve("b", "t", 2, FAST)],
            "no seed of t was run with all of its modules",
        );
        check(
            &[curve("a", "t", 1, FAST), curve("b", "t", 1, ZERO)],
            "the curve of b on t with seed 1: its evaluations are at other steps than those of the first curve",
        );
        check(&[curve("a", "t", 1, &[])], "the curve of a on t with seed 1: there is no evaluation");
        let no_area = "the best area of t is 0; others can be divided by a positive one only";
        check(&[curve("a", "t", 1, ZERO)], no_area);
    }
}
