//! A small study in which everything is as the paper says.

use touchstream_analysis::{Baseline, Point, RunKind, RunRecord};
use touchstream_env::task::paper_tasks;

pub const SEEDS: std::ops::RangeInclusive<u64> = 1..=3;
const N_POINTS: u64 = 21;
const STRIDE: u64 = 100;
/// In the paper's order, each with its final reward.
const MODULES: [(&str, f64); 7] = [
    ("ems", 0.9),
    ("no-symm", 0.85),
    ("no-mult-symm-crelu", 0.8),
    ("none-relu-large", 0.75),
    ("no-mult-symm-relu", 0.7),
    ("none-relu-medium", 0.65),
    ("none-relu-small", 0.6),
];
/// Ways with what they reach, of EMS and of the large module; from scratch it is 0.5.
const WAYS: [(&str, f64, f64); 6] = [
    ("scratch", 0.5, 0.5),
    ("layer", 0.7, 0.6),
    ("unit", 0.72, 0.61),
    ("layer-plain", 0.65, 0.58),
    ("unit-plain", 0.66, 0.58),
    ("layer-shuffled", 0.51, 0.51),
];

/// A little noise that differs by seed, never by more than 0.002.
fn noise(seed: u64, step: u64) -> f64 {
    ((seed * 7 + step / STRIDE * 3) % 5) as f64 / 2500.0
}

/// Rises from 0.2 in a straight line to `level`, which it reaches halfway through.
fn ramp(level: f64, seed: u64) -> Vec<Point> {
    let rise = |step: u64| (2.0 * step as f64 / ((N_POINTS - 1) * STRIDE) as f64).min(1.0);
    points(|step| 0.2 + (level - 0.2) * rise(step) + noise(seed, step))
}

pub fn points(reward: impl Fn(u64) -> f64) -> Vec<Point> {
    let point = |step| Point { step, reward: reward(step), train_reward: None, on_object: None, reuse: None };
    (0..N_POINTS).map(|idx| point(idx * STRIDE)).collect()
}

pub fn alone(module: &str, task: &str, seed: u64, points: Vec<Point>) -> RunRecord {
    RunRecord {
        preset: "default".into(),
        module: module.into(),
        task: task.into(),
        seed,
        kind: RunKind::SingleTask,
        learning_rate: None,
        base_curve: Vec::new(),
        points,
        failure: None,
    }
}

pub fn second(switch: &str, module: &str, way: &str, seed: u64, points: Vec<Point>) -> RunRecord {
    let kind = RunKind::Second {
        switch: switch.into(),
        base_task: "sr-2way".into(),
        base: "base".into(),
        way: way.parse().unwrap(),
    };
    RunRecord { kind, base_curve: vec![(0, 0.7)], ..alone(module, "sr-2way", seed, points) }
}

/// Touches go to objects from a quarter of the way on, and to the right ones from three quarters on.
fn with_objects(mut points: Vec<Point>) -> Vec<Point> {
    let n = points.len();
    for (idx, point) in points.iter_mut().enumerate() {
        let on_object = if idx < n / 4 { 0.2 } else { 0.9 };
        point.on_object = Some(on_object);
        point.reward = on_object * if idx < 3 * n / 4 { 0.5 } else { 1.0 } + point.reward / 1000.0;
    }
    points
}

/// Every claim holds in it.
pub fn study() -> (Vec<RunRecord>, Vec<Baseline>) {
    let mut records = Vec::new();
    for seed in SEEDS {
        for task in paper_tasks().iter().map(|task| task.id()).filter(|&task| task != "coco-mts") {
            for (module, level) in MODULES {
                let mut run = alone(module, task, seed, ramp(level, seed));
                if module == "ems" && task.starts_with("mts-") {
                    // Touches go to buttons from the second evaluation on, while what they earn is still rising.
                    let on_object = |step| if step == 0 { 0.4 } else { 0.95 };
                    run.points.iter_mut().for_each(|point| point.on_object = Some(on_object(point.step)));
                }
                records.push(run);
            }
        }
        records.push(alone("conv-ems", "localization", seed, ramp(0.95, seed)));
        records.push(alone("ems", "coco-mts", seed, with_objects(ramp(0.9, seed))));
        for switch in (1..=15).map(|number| format!("switch-{number}")).chain(["no-switch".to_owned()]) {
            for (way, ems, large) in WAYS {
                for (module, level) in [("ems", ems), ("none-relu-large", large)] {
                    let mut run =
                        second(&switch, module, way, seed, points(|step| level + noise(seed, step)));
                    // The new module's share falls from about a half to a fifth.
                    let reuse = |step| if step == 0 { 0.5 } else { 0.8 } + noise(seed, step);
                    run.points.iter_mut().for_each(|point| point.reuse = Some(reuse(point.step)));
                    records.push(run);
                }
            }
        }
    }
    let svr = Baseline { name: "svr".into(), score: 0.369, interval: Some((0.35, 0.388)), n: 150 };
    (records, vec![svr])
}
