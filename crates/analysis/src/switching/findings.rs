//! Findings for each switch and module: all methods of learning the second task, compared with scratch.

use super::gains::SeedGain;
use crate::band::{Bands, MeanCurve};
use crate::left_out::LeftOut;
use crate::record::RunKind;
use crate::run::{Points, Run, keep_same_steps, name_of};
use crate::statistics::Estimate;
use crate::statistics::{area, end, gains};
use crate::switch_method::SwitchMethod;
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SwitchFindings {
    /// `switch-13`, `no-switch`, ...
    pub switch: String,
    pub base_task: String,
    pub task: String,
    pub module: String,
    /// Validation reward on the base task before the switch, over seeds.
    #[serde(skip)]
    pub base_curve: Option<MeanCurve>,
    /// Step of the last evaluation after the switch; the longer the second task, the smaller its gains.
    pub horizon_steps: u64,
    pub ways: Vec<WayFindings>,
    /// Runs with other steps than the rest, and runs without a run from scratch to compare with.
    pub left_out: Vec<LeftOut>,
}

/// One method of learning the second task.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WayFindings {
    pub way: SwitchMethod,
    pub curve: MeanCurve,
    /// Vote share of the old modules, over the seeds that recorded it.
    pub reuse: Option<MeanCurve>,
    /// Mean reward along the curve.
    pub area: Estimate,
    /// `(AUC - AUC_scratch) / AUC_scratch`, over the seeds that have both; `None` for scratch itself.
    pub r_gain: Option<Estimate>,
    /// TGain over scratch, in reward per 1,000 steps; over the same seeds as `r_gain`.
    pub t_gain: Option<Estimate>,
    pub seeds: Vec<SeedGain>,
}

pub(crate) fn switch_findings(runs: &[Run], bands: &mut Bands) -> Vec<SwitchFindings> {
    let mut places: BTreeMap<[&str; 4], Vec<&Run>> = BTreeMap::new();
    for run in runs {
        if let RunKind::Second { switch, base_task, .. } = &run.record.kind {
            let place = [switch, base_task, &run.record.task, &run.record.module];
            places.entry(place.map(String::as_str)).or_default().push(run);
        }
    }
    places.into_iter().map(|(place, runs)| of_place(place, runs, bands)).collect()
}

fn of_place(place: [&str; 4], mut runs: Vec<&Run>, bands: &mut Bands) -> SwitchFindings {
    let mut left_out = Vec::new();
    keep_same_steps(&mut runs, &mut left_out);
    let mut ways: BTreeMap<SwitchMethod, BTreeMap<u64, &Run>> = BTreeMap::new();
    for run in &runs {
        if let RunKind::Second { way, .. } = run.record.kind {
            ways.entry(way).or_default().insert(run.record.seed, run);
        }
    }
    let scratch = ways.get(&SwitchMethod::Scratch).cloned().unwrap_or_default();
    let others = ways.iter().filter(|(way, _)| **way != SwitchMethod::Scratch).flat_map(|(_, seeds)| seeds);
    let alone = others.filter(|(seed, _)| !scratch.contains_key(seed));
    left_out.extend(alone.map(|(_, run)| {
        LeftOut::new(name_of(run.record), "it has no gains: there is no run from scratch with its seed")
    }));
    let ways = ways.into_iter().filter_map(|(way, seeds)| of_way(way, &seeds, &scratch, bands)).collect();
    let base_curve = base_curve(&runs, bands);
    let [switch, base_task, task, module] = place.map(String::from);
    let horizon_steps = runs.first().map_or(0, |run| run.last_step());
    SwitchFindings { switch, base_task, task, module, base_curve, horizon_steps, ways, left_out }
}

/// The mean curve of the bases, which all methods share; only of bases with the same steps as the first.
fn base_curve(runs: &[&Run], bands: &mut Bands) -> Option<MeanCurve> {
    let bases: BTreeMap<u64, &Points> =
        runs.iter().map(|run| (run.record.seed, &run.record.base_curve)).collect();
    let steps = |points: &Points| points.iter().map(|point| point.0).collect::<Vec<u64>>();
    let mut bases: Vec<&Points> = bases.into_values().filter(|base| area(base).is_ok()).collect();
    let first = steps(bases.first()?);
    bases.retain(|base| steps(base) == first);
    bands.mean_curve(&bases)
}

fn of_way(
    way: SwitchMethod,
    seeds: &BTreeMap<u64, &Run>,
    scratch: &BTreeMap<u64, &Run>,
    bands: &mut Bands,
) -> Option<WayFindings> {
    let curves: Vec<&Points> = seeds.values().map(|run| &run.curve).collect();
    let reuse: Vec<Points> = seeds.values().map(|run| run.shares(|point| point.reuse)).collect();
    let most = reuse.iter().map(Vec::len).max().unwrap_or(0);
    let whole = reuse.iter().filter(|points| points.len() == most && most > 0);
    let steps = |points: &Points| points.iter().map(|point| point.0).collect::<Vec<u64>>();
    let first = whole.clone().next().map(steps);
    let whole: Vec<&Points> = whole.filter(|points| Some(steps(points)) == first).collect();
    let seed_gains = seeds.iter().zip(&reuse).filter_map(|((&seed, run), reuse)| {
        let scratch = scratch.get(&seed);
        let scratch_start = scratch.and_then(|scratch| scratch.curve.first()).map(|point| point.1);
        let scratch = scratch.filter(|_| way != SwitchMethod::Scratch);
        let gains = scratch.and_then(|scratch| gains(&run.curve, &scratch.curve));
        Some(SeedGain {
            seed,
            area: run.area()?,
            r_gain: gains.map(|gains| gains.relative),
            t_gain: gains.map(|gains| gains.transfer),
            early_reward: early_reward(&run.curve),
            base_end: (!run.record.base_curve.is_empty())
                .then(|| end(&run.record.base_curve))
                .filter(|reward| (0.0..=1.0).contains(reward)),
            scratch_start,
            reuse_start: reuse.first().map(|point| point.1),
            reuse_end: (!reuse.is_empty()).then(|| end(reuse)),
        })
    });
    let seed_gains: Vec<SeedGain> = seed_gains.collect();
    let mean = |number: fn(&SeedGain) -> Option<f64>| {
        Estimate::of(&seed_gains.iter().filter_map(number).collect::<Vec<f64>>())
    };
    Some(WayFindings {
        way,
        curve: bands.mean_curve(&curves)?,
        reuse: bands.mean_curve(&whole),
        area: mean(|seed| Some(seed.area))?,
        r_gain: mean(|seed| seed.r_gain),
        t_gain: mean(|seed| seed.t_gain),
        seeds: seed_gains,
    })
}

/// Reward at the first evaluation after step 0 that is not within the first 5 % of the steps; 0 if there is none.
fn early_reward(curve: &[(u64, f64)]) -> f64 {
    let last_step = curve.last().map_or(0, |point| point.0);
    let early = curve.iter().find(|point| point.0 >= last_step.div_ceil(20).max(1));
    early.or(curve.last()).map_or(0.0, |point| point.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn early_is_one_evaluation_at_a_twentieth_or_the_first_after_it() {
        #[track_caller]
        fn check(curve: &[(u64, f64)], wanted: f64) {
            assert_eq!(early_reward(curve), wanted);
        }
        check(&[], 0.0);
        check(&[(0, 0.5)], 0.5);
        check(&[(0, 0.1), (100, 0.5), (200, 0.9)], 0.5);
        check(&[(100, 0.5), (200, 0.9)], 0.5);
        // Higher rewards before and after that evaluation are ignored.
        check(&[(0, 0.1), (10, 0.9), (49, 0.9), (50, 0.7), (51, 0.8), (1000, 0.9)], 0.7);
        check(&[(0, 0.1), (10, 0.9), (49, 0.9), (60, 0.6), (70, 0.8), (1000, 0.9)], 0.6);
        check(&[(0, 0.9), (1, 0.5), (2, 0.8)], 0.5);
    }
}
