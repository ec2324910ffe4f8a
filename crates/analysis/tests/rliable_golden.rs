//! Results must be those of rliable, SciPy and NumPy (`scripts/statistics_golden.py`): points and intervals to 1e-9 from the
//! same resamples, and intervals to a tenth of their width from rliable's own.

#![allow(clippy::unwrap_used)]

use serde::Deserialize;
use touchstream_analysis::statistics::{
    Estimate, Interval, LearningCurve, MethodScores, Resampling, Run, Scores, interquartile_mean, mean,
    performance_profile, probability_of_improvement, student_half_width, task_areas,
};
use touchstream_env::seed::RunSeed;

#[derive(Deserialize)]
struct Golden {
    seed: u64,
    thresholds: Vec<f64>,
    studies: Vec<Study>,
    samples: Vec<Sample>,
    learning: Vec<Learning>,
}

/// A point and the ends of its interval.
type Found = [f64; 3];

#[derive(Deserialize)]
struct Study {
    /// `[task][run]`
    scores: Vec<Vec<f64>>,
    other: Vec<Vec<f64>>,
    mean: Found,
    interquartile_mean: Found,
    profile: Vec<Found>,
    improvement: Found,
    /// Where every task has as many seeds.
    rliable_intervals: Option<RliableIntervals>,
}

#[derive(Deserialize)]
struct RliableIntervals {
    mean: [f64; 2],
    interquartile_mean: [f64; 2],
    improvement: [f64; 2],
}

#[derive(Deserialize)]
struct Sample {
    numbers: Vec<f64>,
    mean: f64,
    student_half: f64,
    bootstrap: [f64; 2],
}

#[derive(Deserialize)]
struct Learning {
    steps: Vec<u64>,
    /// `[module][seed][evaluation]`
    rewards: Vec<Vec<Vec<f64>>>,
    horizon: u64,
    areas: Vec<f64>,
    n_aucs: Vec<f64>,
}

fn golden() -> Golden {
    serde_json::from_str(include_str!("golden/rliable.json")).unwrap()
}

fn scores(study: &Study) -> Scores {
    let names: Vec<String> = (0..study.scores.len()).map(|task| format!("task-{task}")).collect();
    let mut runs = Vec::new();
    for (method, tasks) in [("x", &study.scores), ("y", &study.other)] {
        for (task, scores) in names.iter().zip(tasks) {
            runs.extend(scores.iter().zip(0..).map(|(&score, seed)| Run { method, task, seed, score }));
        }
    }
    Scores::new(runs).unwrap()
}

#[track_caller]
fn check(what: &str, value: f64, interval: Option<Interval>, wanted: Found) {
    let Interval { low, high } = interval.unwrap();
    for (found, wanted) in [value, low, high].into_iter().zip(wanted) {
        assert!((found - wanted).abs() < 1e-9, "{what}: {value} in {low} to {high}");
    }
}

#[track_caller]
fn check_near(what: &str, interval: Option<Interval>, [wanted_low, wanted_high]: [f64; 2]) {
    let Interval { low, high } = interval.unwrap();
    let tolerance = 0.1 * (wanted_high - wanted_low);
    let is_near = (low - wanted_low).abs() < tolerance && (high - wanted_high).abs() < tolerance;
    assert!(is_near, "{what}: {low} to {high}, rliable has {wanted_low} to {wanted_high}");
}

#[test]
fn scores_of_a_study() {
    let golden = golden();
    let resampling = Resampling::new(RunSeed(golden.seed)).as_rliable();
    for study in &golden.studies {
        let scores = scores(study);
        let (x, y): (&MethodScores, &MethodScores) =
            (scores.method("x").unwrap(), scores.method("y").unwrap());
        let mean = mean(x, &resampling);
        check("mean", mean.value, mean.interval, study.mean);
        let iqm = interquartile_mean(x, &resampling);
        check("interquartile mean", iqm.value, iqm.interval, study.interquartile_mean);
        let improvement = probability_of_improvement(x, y, &resampling).unwrap();
        check("improvement", improvement.probability, improvement.interval, study.improvement);
        let profile = performance_profile(x, &golden.thresholds, &resampling);
        assert_eq!(profile.len(), study.profile.len());
        for (row, wanted) in profile.iter().zip(&study.profile) {
            check(&format!("share above {}", row.threshold), row.share.value, row.share.interval, *wanted);
        }
        if let Some(of_rliable) = &study.rliable_intervals {
            check_near("mean", mean.interval, of_rliable.mean);
            check_near("interquartile mean", iqm.interval, of_rliable.interquartile_mean);
            check_near("improvement", improvement.interval, of_rliable.improvement);
        }
    }
}

#[test]
fn means_of_a_sample() {
    let golden = golden();
    for sample in &golden.samples {
        let student = Estimate::of(&sample.numbers).unwrap();
        assert!((student.value - sample.mean).abs() < 1e-9);
        let half = student_half_width(&sample.numbers).unwrap();
        assert!((half / sample.student_half - 1.0).abs() < 1e-6, "{half} for {}", sample.student_half);
        let resampling = Resampling::new(RunSeed(golden.seed)).as_rliable();
        let bootstrap = Estimate::bootstrapped(&sample.numbers, &resampling).unwrap();
        let [low, high] = sample.bootstrap;
        check("bootstrap", bootstrap.value, bootstrap.interval, [sample.mean, low, high]);
    }
}

#[test]
fn areas_of_learning_curves() {
    for learning in golden().learning {
        let names: Vec<String> =
            (0..learning.rewards.len()).map(|module| format!("module-{module}")).collect();
        let points: Vec<Vec<Vec<(u64, f64)>>> = (learning.rewards.iter())
            .map(|seeds| {
                seeds
                    .iter()
                    .map(|rewards| learning.steps.iter().copied().zip(rewards.iter().copied()).collect())
                    .collect()
            })
            .collect();
        let curves: Vec<LearningCurve> = (names.iter().zip(&points))
            .flat_map(|(module, seeds)| {
                seeds.iter().zip(0..).map(move |(points, seed)| LearningCurve {
                    module,
                    task: "task",
                    seed,
                    points,
                })
            })
            .collect();
        let found = &task_areas(&curves).unwrap()[0];
        assert_eq!(found.horizon.step, learning.horizon);
        assert_eq!(found.modules.len(), learning.areas.len());
        for (module, (area, n_auc)) in found.modules.iter().zip(learning.areas.iter().zip(&learning.n_aucs)) {
            assert!(
                (module.area - area).abs() < 1e-9 && (module.n_auc.unwrap() - n_auc).abs() < 1e-9,
                "{module:?}"
            );
        }
    }
}
