//! One task: every module's curves and final rewards.

use super::compared::Compared;
use crate::band::{Bands, MeanCurve};
use crate::left_out::LeftOut;
use crate::run::{Points, Run, keep_same_steps};
use crate::statistics::Estimate;
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TaskFindings {
    pub task: String,
    /// The step up to which areas are computed, when all modules are compared; `None` if they cannot be compared.
    pub horizon_step: Option<u64>,
    pub modules: Vec<ModuleOnTask>,
    /// Runs that were evaluated at other steps than the rest.
    pub left_out: Vec<LeftOut>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ModuleOnTask {
    pub module: String,
    pub curve: MeanCurve,
    pub seeds: Vec<SeedCurve>,
    /// Mean over the last tenth of a curve, over seeds.
    pub final_reward: Estimate,
    /// Mean reward up to the horizon, over the seeds that all modules have.
    pub area: Option<Estimate>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SeedCurve {
    pub seed: u64,
    /// Mean over the last tenth of the curve.
    pub final_reward: f64,
    /// Step and validation reward.
    pub points: Points,
}

/// `runs` share a kind and a preset.
pub(crate) fn task_findings(runs: &[&Run], compared: &Compared, bands: &mut Bands) -> Vec<TaskFindings> {
    let mut tasks: BTreeMap<&str, Vec<&Run>> = BTreeMap::new();
    runs.iter().for_each(|run| tasks.entry(&run.record.task).or_default().push(run));
    let of_task = |(task, mut runs): (&str, Vec<&Run>)| {
        let mut left_out = Vec::new();
        keep_same_steps(&mut runs, &mut left_out);
        let mut modules: BTreeMap<&str, Vec<&Run>> = BTreeMap::new();
        runs.iter().for_each(|run| modules.entry(&run.record.module).or_default().push(run));
        let horizon = compared.areas.iter().find(|areas| areas.task == task).map(|areas| areas.horizon);
        let on_task = modules.into_iter().filter_map(|(module, runs)| {
            let area = compared.cell(module, task).and_then(|(_, found)| Estimate::of(&found.seed_areas));
            on_task(module, &runs, area, bands)
        });
        TaskFindings {
            task: task.to_owned(),
            horizon_step: horizon.map(|horizon| horizon.step),
            modules: on_task.collect(),
            left_out,
        }
    };
    tasks.into_iter().map(of_task).collect()
}

fn on_task(module: &str, runs: &[&Run], area: Option<Estimate>, bands: &mut Bands) -> Option<ModuleOnTask> {
    let curves: Vec<&Points> = runs.iter().map(|run| &run.curve).collect();
    let seed_curve = |run: &&Run| SeedCurve {
        seed: run.record.seed,
        final_reward: run.final_reward(),
        points: run.curve.clone(),
    };
    let seeds: Vec<SeedCurve> = runs.iter().map(seed_curve).collect();
    let finals: Vec<f64> = seeds.iter().map(|seed| seed.final_reward).collect();
    Some(ModuleOnTask {
        module: module.to_owned(),
        curve: bands.mean_curve(&curves)?,
        seeds,
        final_reward: Estimate::of(&finals)?,
        area,
    })
}
