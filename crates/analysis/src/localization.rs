//! Localization: the final IoU of modules, and of baselines without reward maps.

use crate::left_out::LeftOut;
use crate::paper::LOCALIZATION;
use crate::record::Baseline;
use crate::run::{Run, keep_same_steps};
use crate::statistics::{Estimate, Relation};
use serde::Serialize;
use std::collections::BTreeMap;

/// Modules and baselines on the task `localization`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LocalizationFindings {
    pub modules: Vec<ModuleIou>,
    /// Sorted by name, without those whose score is not finite.
    pub baselines: Vec<Baseline>,
    /// Runs that were evaluated at other steps than the other seeds of their module.
    pub left_out: Vec<LeftOut>,
}

/// The final IoU of a module.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ModuleIou {
    pub module: String,
    /// Mean over the last tenth of a curve, over seeds.
    pub iou: Estimate,
    pub seeds: BTreeMap<u64, f64>,
    pub n_steps: u64,
    /// Mean over the last quarter of a curve minus the mean over the quarter before it, over seeds; `None` for fewer
    /// than eight evaluations.
    pub late_rise: Option<Estimate>,
}

impl ModuleIou {
    /// Whether more steps would probably improve the result: [`ModuleIou::late_rise`] is significantly above 0, and
    /// large enough to matter.
    pub(crate) fn is_still_rising(&self) -> bool {
        self.late_rise.is_some_and(|rise| rise.compare_to(0.0) == Relation::Above && rise.value >= LEAST_RISE)
    }
}

/// With fewer evaluations, means over quarters are too noisy.
const MIN_EVALUATIONS: usize = 8;
/// A curve that rises by less than this in a quarter of its steps is regarded as converged.
const LEAST_RISE: f64 = 0.005;

fn late_rise(run: &Run) -> Option<f64> {
    let n_quarter = run.curve.len() / 4;
    if run.curve.len() < MIN_EVALUATIONS {
        return None;
    }
    let mean = |points: &[(u64, f64)]| points.iter().map(|point| point.1).sum::<f64>() / n_quarter as f64;
    let (before, last) = run.curve[run.curve.len() - 2 * n_quarter..].split_at(n_quarter);
    Some(mean(last) - mean(before))
}

/// `runs` share a kind and a preset. Different modules may have different numbers of steps, seeds of one module may
/// not.
pub(crate) fn localization_findings(runs: &[&Run], baselines: &[Baseline]) -> LocalizationFindings {
    let mut modules: BTreeMap<&str, Vec<&Run>> = BTreeMap::new();
    for run in runs.iter().filter(|run| run.record.task == LOCALIZATION) {
        modules.entry(&run.record.module).or_default().push(run);
    }
    let mut left_out = Vec::new();
    let of_module = |(module, mut runs): (&str, Vec<&Run>)| {
        keep_same_steps(&mut runs, &mut left_out);
        let seeds: BTreeMap<u64, f64> =
            runs.iter().map(|run| (run.record.seed, run.final_reward())).collect();
        let ious: Vec<f64> = seeds.values().copied().collect();
        let n_steps = runs.first()?.last_step();
        let rises: Vec<f64> = runs.iter().filter_map(|run| late_rise(run)).collect();
        let late_rise = Estimate::of(&rises);
        Some(ModuleIou { module: module.to_owned(), iou: Estimate::of(&ious)?, seeds, n_steps, late_rise })
    };
    let modules = modules.into_iter().filter_map(of_module).collect();
    let is_number = |baseline: &&Baseline| {
        let ends = baseline.interval.is_none_or(|(low, high)| low.is_finite() && high.is_finite());
        baseline.score.is_finite() && ends
    };
    let mut baselines: Vec<Baseline> = baselines.iter().filter(is_number).cloned().collect();
    baselines.sort_by(|a, b| a.name.cmp(&b.name).then(a.score.total_cmp(&b.score)).then(a.n.cmp(&b.n)));
    LocalizationFindings { modules, baselines, left_out }
}
