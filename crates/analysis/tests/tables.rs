//! Tables of small studies that can be computed by hand.

#![allow(clippy::unwrap_used)]

mod made_up;

use made_up::{alone, second, study};
use touchstream_analysis::{Point, PresetFindings, RunKind, RunRecord, SwitchMethod, findings};

fn point(step: u64, reward: f64) -> Point {
    Point { step, reward, train_reward: None, on_object: None, reuse: None }
}

fn curve(rewards: &[f64]) -> Vec<Point> {
    (0..).step_by(1000).zip(rewards).map(|(step, &reward)| point(step, reward)).collect()
}

fn preset(records: &[RunRecord]) -> PresetFindings {
    findings(records, &[]).presets.remove(0)
}

fn close(found: f64, wanted: f64) -> bool {
    (found - wanted).abs() < 1e-9
}

#[test]
fn modules_have_curves_areas_and_averages() {
    let mut records = Vec::new();
    for seed in [1, 2] {
        for task in ["sr-2way", "sr-4way-quadrant"] {
            records.push(alone("ems", task, seed, curve(&[0.2, 0.8, 0.8])));
            records.push(alone("no-symm", task, seed, curve(&[0.2, 0.4, 0.4])));
        }
    }
    records.push(alone("conv-ems", "localization", 1, curve(&[0.1, 0.5, 0.5])));
    let modules = preset(&records).modules;
    let tasks: Vec<&str> = modules.tasks.iter().map(|task| task.task.as_str()).collect();
    assert_eq!(tasks, ["localization", "sr-2way", "sr-4way-quadrant"]);
    let on_task = &modules.tasks[1];
    assert_eq!(on_task.horizon_step, Some(1000));
    let ems = &on_task.modules[0];
    assert_eq!((ems.module.as_str(), ems.curve.n, ems.seeds.len(), ems.final_reward.n), ("ems", 2, 2, 2));
    assert!(close(ems.area.unwrap().value, 0.5) && close(ems.final_reward.value, 0.8));
    assert!(close(ems.curve.points[1].mean, 0.8) && ems.curve.points[1].interval.is_some());
    let all = &modules.all;
    assert_eq!(all.modules, ["ems", "no-symm"]);
    assert!(close(all.n_auc[1][0].unwrap().n_auc, 0.3 / 0.5) && all.n_auc[1][0].unwrap().n == 2);
    assert_eq!(all.averaged_tasks, ["sr-2way", "sr-4way-quadrant"]);
    // A single module has an area, but no N-AUC.
    let conv = &modules.tasks[0].modules[0];
    assert!(conv.area.is_some() && all.tasks.iter().all(|task| task.task != "localization"));
    let why = "conv-ems is alone on it: there is no N-AUC of one module";
    assert!(
        all.left_out.iter().any(|one| one.what == "localization" && one.why == why),
        "{:?}",
        all.left_out
    );
    let averages: Vec<_> = all.averages.iter().map(|one| (one.module.as_str(), one.ta_n_auc)).collect();
    assert_eq!((averages[0].0, averages[1].0), ("ems", "no-symm"));
    assert!(close(averages[0].1.value, 1.0) && close(averages[1].1.value, 0.6));
    assert_eq!((averages[1].1.size.n_runs, averages[1].1.size.n_tasks), (4, 2));
    let no_symm = &all.averages[1];
    assert!(close(no_symm.ems_is_better.unwrap().value, 1.0) && close(no_symm.interquartile_mean.value, 0.6));
    let share =
        |threshold: f64| no_symm.profile.iter().find(|row| close(row.threshold, threshold)).unwrap().share;
    assert_eq!((share(0.55).value, share(0.65).value, share(0.55).size.n_runs), (1.0, 0.0, 4));
}

/// One task that cannot be compared, runs of other lengths, and a module with one seed.
#[test]
fn what_is_odd_takes_nothing_else_with_it() {
    let (mut records, _) = study();
    let whole = preset(&records);
    for run in
        records.iter_mut().filter(|run| run.task == "sr-4way-quadrant" && run.kind == RunKind::SingleTask)
    {
        run.points.iter_mut().for_each(|point| point.reward = 0.0);
    }
    records.push(alone("mine", "sr-2way", 1, curve(&[0.1, 0.2])));
    records.push(alone("other", "sr-2way", 9, study().0[0].points.clone()));
    let found = preset(&records);
    let left_out = &found.modules.all.left_out;
    let is_left_out =
        |what: &str, why: &str| left_out.iter().any(|one| one.what == what && one.why.contains(why));
    assert!(is_left_out("sr-4way-quadrant", "the best area of sr-4way-quadrant is 0"), "{left_out:?}");
    assert!(is_left_out("mine on sr-2way, seed 1", "at other steps"), "{left_out:?}");
    assert!(is_left_out("other", "on sr-2way it has 1 seed"), "{left_out:?}");
    assert_eq!(found.modules.main.averaged_tasks.len(), 11);
    let without = |found: &PresetFindings| {
        let tasks = found.modules.tasks.iter().filter(|task| task.task == "mts-4way-2shown");
        tasks.cloned().collect::<Vec<_>>()
    };
    assert_eq!(without(&found), without(&whole));
}

#[test]
fn a_run_that_is_there_twice_is_reported() {
    let (mut records, _) = study();
    let whole = preset(&records);
    records.insert(0, alone("ems", "sr-2way", 1, curve(&[0.5])));
    let found = preset(&records);
    let texts: Vec<_> = found.left_out.iter().map(|one| (one.what.as_str(), one.why.as_str())).collect();
    assert_eq!(texts, [("ems on sr-2way, seed 1", "2 of its kind; the one with the most steps counts")]);
    assert_eq!((found.n_runs, found.modules), (whole.n_runs, whole.modules));
}

#[test]
fn gains_are_paired_by_seed() {
    let mut records = vec![
        second("switch-13", "ems", "scratch", 1, curve(&[0.2, 0.4, 0.6])),
        second("switch-13", "ems", "scratch", 2, curve(&[0.4, 0.4, 0.4])),
        second("switch-13", "ems", "layer", 1, curve(&[0.5, 0.8, 0.8])),
        second("switch-13", "ems", "layer", 2, curve(&[0.4, 0.6, 0.4])),
        second("switch-13", "ems", "layer", 3, curve(&[0.9, 0.9, 0.9])),
    ];
    for point in &mut records[2].points {
        point.reuse = Some(0.75);
    }
    let found = &preset(&records).switching[0];
    assert_eq!((found.switch.as_str(), found.horizon_steps, found.ways.len()), ("switch-13", 2000, 2));
    let (layer, scratch) = (&found.ways[0], &found.ways[1]);
    assert_eq!((layer.way, layer.curve.n, layer.area.n), (SwitchMethod::LAYER, 3, 3));
    let (r_gain, t_gain) = (layer.r_gain.unwrap(), layer.t_gain.unwrap());
    assert_eq!((r_gain.n, t_gain.n), (2, 2));
    assert!(close(r_gain.value, (0.8125 + 0.25) / 2.0) && close(t_gain.value, (0.4 + 0.2) / 2.0));
    assert_eq!((layer.seeds[2].r_gain, scratch.r_gain), (None, None));
    assert_eq!((layer.reuse.as_ref().unwrap().n, &scratch.reuse), (1, &None));
    assert_eq!(found.left_out.len(), 1);
    assert_eq!(found.left_out[0].what, "ems on switch-13 (sr-2way), layer, seed 3");
}

#[test]
fn the_best_rate_is_the_smaller_of_equals() {
    let at = |rate: Option<f64>, seed: u64, reward: f64| RunRecord {
        learning_rate: rate,
        ..alone("ems", "sr-2way", seed, curve(&[reward, reward]))
    };
    let records = [
        at(None, 1, 0.5),
        at(Some(1e-3), 1, 0.75),
        at(Some(1e-4), 1, 0.75),
        at(Some(1e-4), 2, 0.75),
        at(Some(1e-2), 1, 0.25),
        alone("no-symm", "sr-2way", 1, curve(&[0.5, 0.5])),
    ];
    let found = preset(&records).learning_rates;
    assert_eq!(found.len(), 1, "only where rates were tried");
    let rates: Vec<_> =
        found[0].rates.iter().map(|rate| (rate.learning_rate, rate.area.unwrap().n)).collect();
    assert_eq!(rates, [(None, 1), (Some(1e-4), 2), (Some(1e-3), 1), (Some(1e-2), 1)]);
    assert_eq!((found[0].best.unwrap().learning_rate, found[0].n_steps), (Some(1e-4), 1000));
}

/// The best of a rate's seeds do not stand for those that diverged.
#[test]
fn a_rate_with_seeds_that_diverge_is_not_chosen() {
    let at = |rate: f64, seed: u64, reward: f64, failure: Option<&str>| RunRecord {
        learning_rate: Some(rate),
        failure: failure.map(String::from),
        ..alone("ems", "sr-2way", seed, curve(&[reward, reward]))
    };
    let lost = Some("the loss is NaN");
    let mut records = vec![
        at(1e-4, 1, 0.5, None),
        at(1e-4, 2, 0.5, None),
        at(1e-4, 3, 0.5, None),
        at(1e-3, 1, 0.9, None),
        at(1e-3, 2, 0.1, lost),
        at(1e-3, 3, 0.1, lost),
        at(1e-2, 1, 0.8, None),
        at(1e-2, 2, 0.8, None),
        at(1e-1, 1, 0.1, lost),
    ];
    let found = preset(&records);
    let rates: Vec<_> =
        found.learning_rates[0].rates.iter().map(|rate| (rate.n_failed, rate.n_missing)).collect();
    assert_eq!(rates, [(0, 0), (2, 0), (0, 1), (1, 2)]);
    assert_eq!(found.learning_rates[0].best.unwrap().learning_rate, Some(1e-4));
    assert_eq!(found.learning_rates[0].rates[3].area, None);
    let is_left_out =
        |what: &str| found.all_left_out().iter().any(|one| one.what == what && one.why == "the loss is NaN");
    assert!(is_left_out("ems on sr-2way at rate 0.001, seed 2"), "{:?}", found.all_left_out());
    // Where none has all seeds, the one that has lost the fewest.
    records.retain(|run| run.learning_rate != Some(1e-4));
    assert_eq!(preset(&records).learning_rates[0].best.unwrap().learning_rate, Some(1e-2));
    records.retain(|run| run.failure.is_some());
    assert_eq!(preset(&records).learning_rates[0].best, None);
}

/// Seeds of one module are averaged after the same number of steps only.
#[test]
fn localization_of_other_lengths_is_left_out() {
    let (mut records, _) = study();
    for run in records.iter_mut().filter(|run| run.module == "conv-ems" && run.seed == 2) {
        run.points.truncate(11);
    }
    let found = preset(&records);
    let conv = found.localization.modules.iter().find(|found| found.module == "conv-ems").unwrap();
    assert_eq!((conv.iou.n, conv.n_steps), (2, 2000));
    assert_eq!(found.localization.left_out[0].what, "conv-ems on localization, seed 2");
    assert!(found.all_left_out().contains(&found.localization.left_out[0]));
}

#[test]
fn scenes_tell_when_they_are_halfway() {
    let run = |seed: u64| {
        let mut run = alone("ems", "coco-mts", seed, curve(&[0.1, 0.25, 0.25, 0.9]));
        let on_object = [0.2, 0.5, 0.5, 0.9];
        run.points.iter_mut().zip(on_object).for_each(|(point, share)| point.on_object = Some(share));
        run
    };
    let found = &preset(&[run(1), run(2)]).scenes[0];
    assert_eq!((found.task.as_str(), found.reward.n, found.on_object.n), ("coco-mts", 2, 2));
    // On objects 0.2 to 0.9, half 0.55; reward 0.1 to 0.9, half 0.5; what objects mean 0.5 to 1.
    let seed = found.seeds[0];
    assert_eq!((seed.on_object, seed.reward, seed.meaning), (Some(3000), Some(3000), Some(3000)));
    assert_eq!((found.meaning_halfway.unwrap().value, found.meaning_halfway.unwrap().n), (3000.0, 2));
}

#[test]
fn localization_ends_are_beside_the_baselines() {
    let (records, mut baselines) = study();
    baselines.push(touchstream_analysis::Baseline {
        name: "odd".into(),
        score: f64::NAN,
        interval: None,
        n: 1,
    });
    let found = &findings(&records, &baselines).presets[0].localization;
    assert_eq!(found.baselines, baselines[..1]);
    let conv = found.modules.iter().find(|found| found.module == "conv-ems").unwrap();
    assert!((conv.iou.value - 0.951).abs() < 0.002 && conv.iou.n == 3 && conv.n_steps == 2000, "{conv:?}");
}
