//! Compares modules over tasks: N-AUC, TA-N-AUC, interquartile means, performance profiles, probabilities of
//! improvement.

use super::compared::{Compared, is_compared, resampling};
use crate::left_out::LeftOut;
use crate::paper::EMS;
use crate::statistics::{
    MethodScores, PooledEstimate, ProfilePoint, Resampling, interquartile_mean, mean, performance_profile,
    probability_of_improvement,
};
use serde::Serialize;
use std::collections::BTreeSet;

/// A comparison of modules. Areas are divided by the best module's, so they depend on which modules are compared.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// The rows of `n_auc`, sorted by name.
    pub modules: Vec<String>,
    /// The columns of `n_auc`, sorted by name, each with its horizon: the tasks on which there is more than one module.
    pub tasks: Vec<TaskHorizon>,
    /// `[module][task]`; `None` where runs are missing.
    pub n_auc: Vec<Vec<Option<NormalizedArea>>>,
    /// Those of the paper's twelve tasks that all modules of `averages` have; `averages` are means over these.
    pub averaged_tasks: Vec<String>,
    /// The modules that have all of `averaged_tasks`, sorted by name.
    pub averages: Vec<ModuleAverage>,
    /// Runs, modules and tasks that are excluded from `n_auc` or `averages`.
    pub left_out: Vec<LeftOut>,
}

/// The step up to which modules are compared on a task.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TaskHorizon {
    pub task: String,
    /// The first evaluation by which more than half of the modules that have learned anything have reached 95 % of
    /// their own final reward; the last evaluation if none has learned anything.
    pub step: u64,
    /// Number of evaluations up to and including the horizon.
    pub n_evaluations: usize,
    /// Number of modules that have learned something and have converged at this step.
    pub n_converged: usize,
    /// Number of modules that have learned something, that is, whose reward rises by at least 0.05.
    pub n_learned: usize,
    pub n_modules: usize,
    /// Number of seeds that all modules have.
    pub n_seeds: usize,
    /// Number of seeds that at least one module lacks; their runs are ignored here.
    pub n_seeds_left_out: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct NormalizedArea {
    /// The area divided by that of the best module.
    pub n_auc: f64,
    /// Mean reward up to the horizon, over seeds.
    pub area: f64,
    pub n: usize,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ModuleAverage {
    pub module: String,
    /// Mean N-AUC over tasks.
    pub ta_n_auc: PooledEstimate,
    /// The mean of the middle half of all runs' normalized areas.
    pub interquartile_mean: PooledEstimate,
    /// The share of runs whose normalized area is above each threshold.
    pub profile: Vec<ProfilePoint>,
    /// The probability that a run of EMS has a larger area than a run of this module, over tasks; `None` for EMS
    /// itself, and if there is no EMS.
    pub ems_is_better: Option<PooledEstimate>,
}

const N_THRESHOLDS: u32 = 23;

impl Comparison {
    pub(crate) fn of(compared: &Compared) -> Self {
        let areas: Vec<_> = compared.areas.iter().filter(|areas| is_compared(areas)).collect();
        let all = areas.iter().flat_map(|areas| areas.modules.iter().map(|module| &module.module));
        let modules: Vec<String> = all.collect::<BTreeSet<_>>().into_iter().cloned().collect();
        let cell = |module: &str, task: &str| {
            let (areas, found) = compared.cell(module, task)?;
            Some(NormalizedArea { n_auc: found.n_auc?, area: found.area, n: areas.seeds.len() })
        };
        let row = |module: &String| areas.iter().map(|areas| cell(module, &areas.task)).collect();
        Self {
            n_auc: modules.iter().map(row).collect(),
            modules,
            tasks: areas.iter().map(|areas| TaskHorizon::of(areas)).collect(),
            averaged_tasks: compared.tasks.clone(),
            averages: averages(compared),
            left_out: compared.left_out.clone(),
        }
    }
}

impl TaskHorizon {
    fn of(areas: &crate::statistics::TaskAreas) -> Self {
        let horizon = areas.horizon;
        Self {
            task: areas.task.clone(),
            step: horizon.step,
            n_evaluations: horizon.n_evaluations,
            n_converged: horizon.n_converged,
            n_learned: horizon.n_learned,
            n_modules: horizon.n_modules,
            n_seeds: areas.seeds.len(),
            n_seeds_left_out: areas.n_seeds_left_out,
        }
    }
}

fn averages(compared: &Compared) -> Vec<ModuleAverage> {
    let Some(scores) = compared.scores() else { return Vec::new() };
    // These statistics sort or pair all runs in each resample, which takes long.
    let fewer = Resampling { n_resamples: 1000, ..resampling() };
    let thresholds: Vec<f64> = (0..N_THRESHOLDS).map(|idx| f64::from(idx) / 20.0).collect();
    let ems = scores.method(EMS);
    let average = |module: &MethodScores| {
        let beside_ems = ems.filter(|ems| ems.name() != module.name());
        let improvement = beside_ems.and_then(|ems| probability_of_improvement(ems, module, &fewer));
        ModuleAverage {
            module: module.name().to_owned(),
            ta_n_auc: mean(module, &resampling()),
            interquartile_mean: interquartile_mean(module, &fewer),
            profile: performance_profile(module, &thresholds, &fewer),
            ems_is_better: improvement.map(|found| PooledEstimate {
                value: found.probability,
                interval: found.interval,
                size: found.size,
            }),
        }
    };
    scores.methods().map(average).collect()
}
