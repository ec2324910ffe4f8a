//! Order of learning on screens with several objects: touching any object, and touching the right one.

use crate::band::{Bands, MeanCurve};
use crate::run::{Points, Run, keep_same_steps};
use crate::statistics::Estimate;
use crate::statistics::end;
use serde::Serialize;
use std::collections::BTreeMap;

/// A smaller rise is regarded as noise, so that there is no step at which half of it is reached.
const LEAST_RISE: f64 = 0.05;

/// One module on one task whose runs recorded the share of touches on any object.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SceneFindings {
    pub task: String,
    pub module: String,
    pub reward: MeanCurve,
    /// Share of touches on any object.
    pub on_object: MeanCurve,
    pub seeds: Vec<SeedHalfway>,
    /// Mean step over the seeds whose curves rise by at least 0.05.
    pub reward_halfway: Option<Estimate>,
    /// The same for touches on any object.
    pub on_object_halfway: Option<Estimate>,
    /// The same for the reward of touches on objects.
    pub meaning_halfway: Option<Estimate>,
}

/// The first step at which a run has risen by half from its first value to its final one (the mean of the last tenth);
/// `None` if it does not rise by at least 0.05.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SeedHalfway {
    pub seed: u64,
    /// Step at which the validation reward is halfway to its final value.
    pub reward: Option<u64>,
    /// Step at which the share of touches on any object is halfway to its final value.
    pub on_object: Option<u64>,
    /// The same for the mean reward of those touches that land on an object.
    pub meaning: Option<u64>,
    pub n_steps: u64,
}

/// `runs` share a kind and a preset.
pub(crate) fn scene_findings(runs: &[&Run], bands: &mut Bands) -> Vec<SceneFindings> {
    let mut places: BTreeMap<(&str, &str), Vec<&Run>> = BTreeMap::new();
    for run in runs.iter().filter(|run| run.record.points.iter().all(|point| point.on_object.is_some())) {
        places.entry((&run.record.task, &run.record.module)).or_default().push(run);
    }
    let findings =
        places.into_iter().filter_map(|((task, module), runs)| of_place(task, module, runs, bands));
    findings.collect()
}

fn of_place(task: &str, module: &str, mut runs: Vec<&Run>, bands: &mut Bands) -> Option<SceneFindings> {
    // These exclusions are already listed with the modules.
    keep_same_steps(&mut runs, &mut Vec::new());
    let touches: Vec<Points> = runs.iter().map(|run| run.shares(|point| point.on_object)).collect();
    let whole = runs.iter().zip(&touches).filter(|(run, touches)| run.curve.len() == touches.len());
    let (runs, touches): (Vec<&Run>, Vec<&Points>) = whole.unzip();
    let rewards: Vec<&Points> = runs.iter().map(|run| &run.curve).collect();
    let seeds = runs.iter().zip(&touches).map(|(run, touches)| SeedHalfway {
        seed: run.record.seed,
        reward: halfway(&run.curve),
        on_object: halfway(touches),
        meaning: halfway(&meaning(&run.curve, touches)),
        n_steps: run.last_step(),
    });
    let seeds: Vec<SeedHalfway> = seeds.collect();
    let mean = |step: fn(&SeedHalfway) -> Option<u64>| {
        Estimate::of(&seeds.iter().filter_map(step).map(|step| step as f64).collect::<Vec<_>>())
    };
    Some(SceneFindings {
        task: task.to_owned(),
        module: module.to_owned(),
        reward: bands.mean_curve(&rewards)?,
        on_object: bands.mean_curve(&touches)?,
        reward_halfway: mean(|seed| seed.reward),
        on_object_halfway: mean(|seed| seed.on_object),
        meaning_halfway: mean(|seed| seed.meaning),
        seeds,
    })
}

/// Mean reward of the touches that land on an object, at the evaluations that have such touches. Both curves have the
/// same steps.
fn meaning(rewards: &[(u64, f64)], on_object: &[(u64, f64)]) -> Points {
    let both = rewards.iter().zip(on_object).filter(|(_, share)| share.1 > 0.0);
    both.map(|(reward, share)| (reward.0, (reward.1 / share.1).min(1.0))).collect()
}

/// The first step at which a curve has risen by half from its first value to its final one.
pub(crate) fn halfway(points: &[(u64, f64)]) -> Option<u64> {
    let (first, last) = (points.first()?.1, end(points));
    if last - first < LEAST_RISE {
        return None;
    }
    let half = (first + last) / 2.0;
    points.iter().find(|point| point.1 >= half).map(|point| point.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halfway_is_between_the_first_and_the_final_value() {
        #[track_caller]
        fn check(values: &[f64], wanted: Option<u64>) {
            let points: Points = (0..).step_by(100).zip(values.iter().copied()).collect();
            assert_eq!(halfway(&points), wanted);
        }
        check(&[], None);
        check(&[0.5], None);
        check(&[0.5, 0.5], None);
        check(&[0.9, 0.1], None);
        check(&[0.2, 0.4, 0.6, 1.0], Some(200));
        check(&[0.0, 0.125, 0.25], Some(100));
        check(&[0.2, 0.9, 0.3, 0.8], Some(100));
        check(&[0.2, 0.24], None);
    }

    #[test]
    fn meaning_is_the_reward_of_touches_on_objects() {
        let found = meaning(&[(0, 0.1), (1, 0.25), (2, 0.5)], &[(0, 0.0), (1, 0.5), (2, 0.5)]);
        assert_eq!(found, [(1, 0.5), (2, 1.0)]);
    }
}
