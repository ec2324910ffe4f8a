//! Localization: the IoU that modules end at, beside what it comes to without one.

use crate::figure::Figure;
use crate::paper::LOCALIZATION;
use crate::record::Baseline;
use crate::run::Run;
use serde::Serialize;
use std::collections::BTreeMap;

/// Modules and baselines on the task `localization`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LocalizationFindings {
    /// By name.
    pub modules: Vec<ModuleIou>,
    /// As given, by name, but for those whose score is no number.
    pub baselines: Vec<Baseline>,
}

/// What a module ends at.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ModuleIou {
    /// Its name.
    pub module: String,
    /// The mean of the last tenth of a curve, over seeds.
    pub iou: Figure,
    /// One a seed.
    pub seeds: BTreeMap<u64, f64>,
    /// The longest run's.
    pub n_steps: u64,
}

/// `runs` are of one part and one preset. Modules may have learned for different numbers of steps.
pub(crate) fn localization_findings(runs: &[&Run], baselines: &[Baseline]) -> LocalizationFindings {
    let mut modules: BTreeMap<&str, Vec<&Run>> = BTreeMap::new();
    for run in runs.iter().filter(|run| run.record.task == LOCALIZATION) {
        modules.entry(&run.record.module).or_default().push(run);
    }
    let of_module = |(module, runs): (&str, Vec<&Run>)| {
        let seeds: BTreeMap<u64, f64> =
            runs.iter().map(|run| (run.record.seed, run.final_reward())).collect();
        let ious: Vec<f64> = seeds.values().copied().collect();
        let n_steps = runs.iter().map(|run| run.last_step()).max()?;
        Some(ModuleIou { module: module.to_owned(), iou: Figure::of(&ious)?, seeds, n_steps })
    };
    let is_number = |baseline: &&Baseline| {
        let ends = baseline.interval.is_none_or(|(low, high)| low.is_finite() && high.is_finite());
        baseline.score.is_finite() && ends
    };
    let mut baselines: Vec<Baseline> = baselines.iter().filter(is_number).cloned().collect();
    baselines.sort_by(|a, b| a.name.cmp(&b.name).then(a.score.total_cmp(&b.score)).then(a.n.cmp(&b.n)));
    LocalizationFindings { modules: modules.into_iter().filter_map(of_module).collect(), baselines }
}
