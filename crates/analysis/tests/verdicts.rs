//! Every claim holds in a study that was made so, and fails where its inequality is turned round.

#![allow(clippy::unwrap_used)]

mod made_up;

use made_up::{alone, points, study};
use touchstream_analysis::{Baseline, CLAIMS, RunKind, RunRecord, Verdict, VerdictKind, findings};

fn verdict(id: &str, records: &[RunRecord], baselines: &[Baseline]) -> Verdict {
    let found = findings(records, baselines);
    found.presets[0].verdicts.iter().find(|verdict| verdict.claim_id == id).unwrap().clone()
}

#[test]
fn all_claims_hold_where_all_is_as_the_paper_says() {
    let (records, baselines) = study();
    let found = findings(&records, &baselines);
    assert_eq!(found.presets.len(), 1);
    let verdicts = &found.presets[0].verdicts;
    assert_eq!(verdicts.len(), CLAIMS.len());
    for (verdict, claim) in verdicts.iter().zip(CLAIMS) {
        assert_eq!(verdict.outcome, VerdictKind::Reproduced, "{verdict:#?}");
        assert_eq!((verdict.claim_id.as_str(), verdict.preset.as_str()), (claim.id, "default"));
        assert!(!verdict.n.is_empty() && !verdict.found.is_empty() && !verdict.why.is_empty());
    }
    let ids: std::collections::BTreeSet<&str> = CLAIMS.iter().map(|claim| claim.id).collect();
    assert_eq!(ids.len(), CLAIMS.len());
}

/// Changes the rewards of the selected runs.
fn change(records: &mut [RunRecord], which: impl Fn(&RunRecord) -> bool, reward: impl Fn(u64, f64) -> f64) {
    for record in records.iter_mut().filter(|record| which(record)) {
        record.points.iter_mut().for_each(|point| point.reward = reward(point.step, point.reward));
    }
}

fn is(record: &RunRecord, module: &str, task: &str) -> bool {
    record.kind == RunKind::SingleTask && record.module == module && [&record.task, "*"].contains(&task)
}

fn at(record: &RunRecord, at_switch: &str, module: &str, by_way: &str) -> bool {
    let RunKind::Second { switch, way, .. } = &record.kind else { return false };
    record.module == module
        && by_way == way.to_string()
        && (switch == at_switch || at_switch == "*" && switch != "no-switch")
}

struct Case {
    id: &'static str,
    plant: fn(&mut Vec<RunRecord>, &mut Vec<Baseline>),
    /// Part of the reason.
    why: &'static str,
}

#[rustfmt::skip]
const PLANTED: &[Case] = &[
    Case { id: "efficiency-highest", why: "no-symm is higher, significantly", plant: |runs, _| change(runs, |run| is(run, "no-symm", "*"), |_, _| 0.99) },
    Case { id: "efficiency-highest", why: "highest, but not significantly above no-symm", plant: |runs, _| nearly_as_good(runs) },
    Case { id: "efficiency-above-no-symm", why: "lies below 0", plant: |runs, _| change(runs, |run| is(run, "no-symm", "*"), |_, _| 0.99) },
    Case { id: "efficiency-above-no-mult", why: "lies below 0", plant: |runs, _| change(runs, |run| is(run, "no-mult-symm-crelu", "*"), |_, _| 0.99) },
    Case { id: "efficiency-above-none-large", why: "lies below 0", plant: |runs, _| change(runs, |run| is(run, "none-relu-large", "*"), |_, _| 0.99) },
    Case { id: "efficiency-above-no-mult-symm", why: "lies below 0", plant: |runs, _| change(runs, |run| is(run, "no-mult-symm-relu", "*"), |_, _| 0.99) },
    Case { id: "efficiency-above-none-medium", why: "lies below 0", plant: |runs, _| change(runs, |run| is(run, "none-relu-medium", "*"), |_, _| 0.99) },
    Case { id: "efficiency-above-none-small", why: "lies below 0", plant: |runs, _| change(runs, |run| is(run, "none-relu-small", "*"), |_, _| 0.99) },
    Case { id: "efficiency-order", why: "1 of six neighbours: none-relu-medium is not above none-relu-small", plant: |runs, _| change(runs, |run| is(run, "none-relu-small", "*"), |_, reward| reward * 1.1) },
    Case { id: "final-reward-highest", why: "another module has a higher final reward on 1 task, significantly on 1", plant: |runs, _| change(runs, |run| is(run, "no-symm", "sr-2way"), |_, reward| reward + 0.1) },
    Case { id: "localization-above-0.4", why: "lies below 0.4", plant: |runs, _| change(runs, |run| is(run, "ems", "localization"), |_, reward| reward * 0.43) },
    Case { id: "localization-above-svr", why: "lies below 0", plant: |_, baselines| baselines[0].score = 0.97 },
    Case { id: "localization-above-svr", why: "no significant difference", plant: |_, baselines| baselines[0].interval = Some((0.0, 1.5)) },
    Case { id: "localization-conv-above-svr", why: "lies below 0", plant: |runs, _| change(runs, |run| is(run, "conv-ems", "*"), |_, reward| reward * 0.3) },
    Case { id: "localization-conv-above-ems", why: "lies below 0", plant: |runs, _| change(runs, |run| is(run, "conv-ems", "*"), |_, reward| reward / 2.0) },
    Case { id: "voting-ems-layer", why: "not positive at 1 switch, significantly negative at 1: switch-7", plant: |runs, _| change(runs, |run| at(run, "switch-7", "ems", "layer"), |_, reward| reward - 0.3) },
    Case { id: "voting-ems-unit", why: "not positive at 1 switch, significantly negative at 1: switch-7", plant: |runs, _| change(runs, |run| at(run, "switch-7", "ems", "unit"), |_, reward| reward - 0.3) },
    Case { id: "voting-none-large-layer", why: "not positive at 1 switch, significantly negative at 1: switch-7", plant: |runs, _| change(runs, |run| at(run, "switch-7", "none-relu-large", "layer"), |_, reward| reward - 0.3) },
    Case { id: "voting-none-large-unit", why: "not positive at 1 switch, significantly negative at 1: switch-7", plant: |runs, _| change(runs, |run| at(run, "switch-7", "none-relu-large", "unit"), |_, reward| reward - 0.3) },
    Case { id: "voting-unit-above-layer", why: "lies below 0", plant: |runs, _| change(runs, |run| at(run, "*", "ems", "unit"), |_, reward| reward - 0.1) },
    Case { id: "voting-ems-faster-layer", why: "lies below 0", plant: |runs, _| change(runs, |run| at(run, "*", "none-relu-large", "layer"), |_, reward| reward + 0.2) },
    Case { id: "voting-ems-faster-unit", why: "lies below 0", plant: |runs, _| change(runs, |run| at(run, "*", "none-relu-large", "unit"), |_, reward| reward + 0.2) },
    // Back in the end, but not at once.
    Case { id: "no-switch-level-layer", why: "lies below 0.95", plant: |runs, _| change(runs, |run| at(run, "no-switch", "ems", "layer"), |step, reward| if step > 200 { reward } else { reward * 0.8 }) },
    Case { id: "no-switch-level-unit", why: "lies below 0.95", plant: |runs, _| change(runs, |run| at(run, "no-switch", "ems", "unit"), |step, reward| if step > 200 { reward } else { reward * 0.8 }) },
    // Good early on, and lost by then.
    Case { id: "no-switch-level-layer", why: "not back by then: the interval lies below 0.95 of the old level", plant: |runs, _| change(runs, |run| at(run, "no-switch", "ems", "layer"), |step, reward| if step == 0 { reward } else { reward * 0.8 }) },
    Case { id: "no-switch-weight-layer", why: "significantly above half", plant: |runs, _| reuse(runs, "layer", |_, share| share / 2.0) },
    Case { id: "no-switch-weight-unit", why: "significantly above half", plant: |runs, _| reuse(runs, "unit", |_, share| share / 2.0) },
    // Vote shares do not change, and the old modules have more than half.
    Case { id: "no-switch-weight-layer", why: "significantly above half", plant: |runs, _| reuse(runs, "layer", |_, _| 0.583) },
    Case { id: "no-switch-weight-unit", why: "not significantly below half", plant: |runs, _| reuse(runs, "unit", |step, share| if step == 0 { 0.602 } else { share }) },
    Case { id: "transformations-help", why: "lies below 0", plant: |runs, _| change(runs, |run| at(run, "*", "ems", "layer-plain"), |_, reward| reward + 0.1) },
    Case { id: "transformations-voting-most", why: "less than half", plant: |runs, _| change(runs, |run| at(run, "*", "ems", "layer-plain"), |_, reward| reward - 0.1) },
    Case { id: "transformations-voting-most", why: "no gain", plant: |runs, _| change(runs, |run| at(run, "*", "ems", "layer"), |_, reward| reward - 0.3) },
    Case { id: "control-shuffled", why: "gains more", plant: |runs, _| change(runs, |run| at(run, "*", "ems", "layer-shuffled"), |_, reward| reward + 0.3) },
    Case { id: "control-shuffled", why: "more than half", plant: |runs, _| change(runs, |run| at(run, "*", "ems", "layer-shuffled"), |_, reward| reward + 0.15) },
    Case { id: "order-buttons", why: "lies below 0", plant: |runs, _| swap_order(runs, "mts-") },
    Case { id: "order-outlines", why: "lies below 0", plant: |runs, _| swap_order(runs, "coco-") },
];

/// No symm learns what EMS does, with one seed less and with two more.
fn nearly_as_good(runs: &mut [RunRecord]) {
    beside_ems(runs, [-0.03, 0.005, 0.01]);
}

/// The module without symmetry learns as EMS does, a seed better or worse by so much.
fn beside_ems(runs: &mut [RunRecord], more: [f64; 3]) {
    let ems: Vec<RunRecord> = runs.iter().filter(|run| is(run, "ems", "*")).cloned().collect();
    for run in runs.iter_mut().filter(|run| is(run, "no-symm", "*")) {
        let like = ems.iter().find(|ems| ems.task == run.task && ems.seed == run.seed).unwrap();
        let more = more[run.seed as usize - 1];
        let rewards = like.points.iter().map(|point| point.reward);
        run.points.iter_mut().zip(rewards).for_each(|(point, reward)| point.reward = reward + more);
    }
}

/// Turns the old modules' shares into others, by step and share.
fn reuse(runs: &mut [RunRecord], way: &str, share: fn(u64, f64) -> f64) {
    for point in
        runs.iter_mut().filter(|run| at(run, "no-switch", "ems", way)).flat_map(|run| &mut run.points)
    {
        point.reuse = point.reuse.map(|before| share(point.step, before));
    }
}

/// What objects mean is known early, where they are late.
fn swap_order(runs: &mut [RunRecord], tasks: &str) {
    for run in runs.iter_mut().filter(|run| is(run, "ems", "*") && run.task.starts_with(tasks)) {
        for point in &mut run.points {
            let on_object = if point.step < 1500 { 0.2 } else { 0.9 };
            point.on_object = Some(on_object);
            point.reward = on_object * if point.step < 500 { 0.2 } else { 0.9 };
        }
    }
}

#[test]
fn every_claim_fails_where_its_inequality_is_turned_round() {
    for Case { id, plant, why } in PLANTED {
        let (mut records, mut baselines) = study();
        plant(&mut records, &mut baselines);
        let found = verdict(id, &records, &baselines);
        assert_eq!(found.outcome, VerdictKind::NotReproduced, "{found:#?}");
        assert!(found.why.contains(why), "{found:#?}");
    }
    let has_case = |id: &str| PLANTED.iter().any(|case| case.id == id);
    assert!(CLAIMS.iter().all(|claim| has_case(claim.id)));
}

/// Of what each claim reads, one run is taken away, and it says which.
#[test]
fn every_claim_says_what_it_waits_for() {
    #[track_caller]
    fn check(ids: &[&str], is_gone: fn(&RunRecord) -> bool, why: &str) {
        let (mut records, baselines) = study();
        records.retain(|run| !is_gone(run));
        let found = findings(&records, &baselines);
        for verdict in &found.presets[0].verdicts {
            let wanted = if ids.iter().any(|id| verdict.claim_id.starts_with(id)) {
                VerdictKind::NotEnoughData
            } else {
                VerdictKind::Reproduced
            };
            assert_eq!(verdict.outcome, wanted, "{verdict:#?}");
            assert!(wanted == VerdictKind::Reproduced || verdict.why.contains(why), "{verdict:#?}");
            assert!(!verdict.n.is_empty());
        }
    }
    check(
        &["efficiency-highest", "efficiency-order", "efficiency-above-no-symm", "final-reward"],
        |run| is(run, "no-symm", "sr-2way") && run.seed == 2,
        "1 more run is needed: 1 of no-symm on sr-2way",
    );
    check(
        &["efficiency-highest", "efficiency-order", "efficiency-above-none-small", "final-reward"],
        |run| is(run, "none-relu-small", "*"),
        "36 more runs are needed: 3 of none-relu-small on sr-2way",
    );
    check(
        &["efficiency", "final-reward", "localization-above", "localization-conv-above-ems"],
        |run| is(run, "ems", "localization"),
        "of ems on localization",
    );
    check(
        &["localization-conv"],
        |run| is(run, "conv-ems", "*"),
        "3 more runs are needed: 3 of conv-ems on localization",
    );
    check(
        &["voting-ems-layer", "voting-unit-above", "voting-ems-faster-layer", "transformations"],
        |run| at(run, "switch-3", "ems", "layer") && run.seed == 1,
        "1 of ems at switch-3, layer with scratch",
    );
    // Without scratch there are no gains.
    check(
        &["voting-none-large", "voting-ems-faster"],
        |run| at(run, "switch-3", "none-relu-large", "scratch"),
        "3 of none-relu-large at switch-3, ",
    );
    check(&["control"], |run| at(run, "*", "ems", "layer-shuffled"), "0 are there");
    check(
        &["no-switch-level-unit", "no-switch-weight-unit"],
        |run| at(run, "no-switch", "ems", "unit"),
        "3 of ems at no-switch, unit",
    );
    check(&["order-outlines"], |run| is(run, "ems", "coco-mts") && run.seed > 2, "1 of ems on coco-mts");
    let (mut records, mut baselines) = study();
    baselines.clear();
    let found = verdict("localization-above-svr", &records, &baselines);
    assert_eq!(
        (found.outcome, found.why.as_str()),
        (VerdictKind::NotEnoughData, "the supervised baseline is missing")
    );
    records.iter_mut().flat_map(|run| &mut run.points).for_each(|point| point.on_object = None);
    let found = verdict("order-buttons", &records, &baselines);
    assert_eq!(found.outcome, VerdictKind::NotEnoughData, "{found:#?}");
    assert!(found.why.contains("0 runs recorded such touches"), "{found:#?}");
}

/// Another seed on one side, with a gain of its own, changes nothing; without enough shared ones nothing is judged.
#[test]
fn learners_are_compared_by_the_seeds_that_both_have() {
    let ids = [
        ("voting-unit-above-layer", "unit"),
        ("voting-ems-faster-layer", "layer"),
        ("transformations-help", "layer"),
        ("transformations-voting-most", "layer-plain"),
        ("control-shuffled", "layer-shuffled"),
    ];
    let (whole, baselines) = study();
    for (id, way) in ids {
        let mut records = whole.clone();
        // Seed 4 from scratch, and of one way with a reward unlike the others'.
        let fourth = |by_way: &str| {
            let of_way = whole.iter().filter(|run| at(run, "*", "ems", by_way) && run.seed == 1);
            of_way.map(|run| RunRecord { seed: 4, ..run.clone() }).collect::<Vec<_>>()
        };
        let mut odd = fourth(way);
        change(&mut odd, |_| true, |_, _| if way == "layer-shuffled" { 1.0 } else { 0.01 });
        records.extend(fourth("scratch").into_iter().chain(odd));
        assert_eq!(verdict(id, &records, &baselines), verdict(id, &whole, &baselines));
        // Three seeds on either side, two of them the same.
        records.retain(|run| !(at(run, "*", "ems", way) && run.seed == 1));
        let found = verdict(id, &records, &baselines);
        assert_eq!(found.outcome, VerdictKind::NotEnoughData, "{found:#?}");
        let why = if id.starts_with("control") { "0 are there" } else { "with the same seed" };
        assert!(found.why.contains(why) && found.n == "15 switches, 2 seeds each", "{found:#?}");
    }
}

/// Two tasks are too few for an order of learning in general.
#[test]
fn buttons_are_judged_by_three_tasks() {
    #[track_caller]
    fn check(tasks: &[&str], outcome: VerdictKind, why: &str) {
        let (mut records, baselines) = study();
        for run in records.iter_mut().filter(|run| !tasks.contains(&run.task.as_str())) {
            run.points.iter_mut().for_each(|point| point.on_object = None);
        }
        let found = verdict("order-buttons", &records, &baselines);
        assert_eq!(found.outcome, outcome, "{found:#?}");
        assert!(found.why.contains(why), "{found:#?}");
    }
    let tasks = ["mts-2way-stationary", "mts-4way-2shown", "mts-4way-4shown-permuted"];
    check(&tasks, VerdictKind::Reproduced, "above 0");
    check(&tasks[..2], VerdictKind::NotEnoughData, "2 are there; 6 runs recorded such touches");
    check(&tasks[..1], VerdictKind::NotEnoughData, "1 is there; 3 runs recorded such touches");
}

/// Returning to the level of a base that has learned nothing is easy.
#[test]
fn a_base_that_has_not_learned_the_task_does_not_count() {
    let (mut records, baselines) = study();
    for run in records.iter_mut().filter(|run| at(run, "no-switch", "ems", "layer") && run.seed == 1) {
        run.base_curve = vec![(0, 0.55)];
    }
    let found = verdict("no-switch-level-layer", &records, &baselines);
    let why = "1 more run is needed: 1 of ems at no-switch, layer, whose base has learned the task";
    assert_eq!((found.outcome, found.why.as_str()), (VerdictKind::NotEnoughData, why), "{found:#?}");
    let found = verdict("no-switch-level-unit", &records, &baselines);
    assert_eq!(found.why, "within a tenth of the old level: the interval lies above 0.9 of it");
}

/// One run far above the old level and two below it have a mean of 1.09 of it, and say nothing.
#[test]
fn a_mean_at_the_old_level_whose_interval_holds_everything_is_not_judged() {
    let (mut records, baselines) = study();
    for run in records.iter_mut().filter(|run| at(run, "no-switch", "ems", "layer")) {
        let share = [1.5, 0.9, 0.87][run.seed as usize - 1];
        run.points.iter_mut().for_each(|point| point.reward = 0.66 * share);
        run.base_curve = vec![(0, 0.66)];
    }
    let found = verdict("no-switch-level-layer", &records, &baselines);
    assert_eq!(found.outcome, VerdictKind::NotEnoughData, "{found:#?}");
    assert!(found.found.starts_with("1.09") && found.why.contains("too few seeds"), "{found:#?}");
}

/// Below a level, but on the way to it.
#[test]
fn what_still_rises_is_not_judged() {
    let ids = ["localization-above-0.4", "localization-above-svr", "localization-conv-above-svr"];
    let (mut records, baselines) = study();
    let localizes = |run: &RunRecord| is(run, "ems", "localization") || is(run, "conv-ems", "*");
    change(&mut records, localizes, |step, reward| reward / 1000.0 + 0.15 + step as f64 / 10_000.0);
    for id in ids {
        let found = verdict(id, &records, &baselines);
        assert_eq!(found.outcome, VerdictKind::NotEnoughData, "{found:#?}");
        assert!(found.why.starts_with("still rising after 2,000 steps: by +0.050"), "{found:#?}");
    }
    // On a plateau it is what it is.
    change(&mut records, localizes, |step, reward| if step < 1000 { reward } else { 0.25 });
    for id in ids {
        assert_eq!(verdict(id, &records, &baselines).outcome, VerdictKind::NotReproduced);
    }
    // Above it, it may rise further.
    change(&mut records, localizes, |step, _| 0.5 + step as f64 / 10_000.0);
    assert_eq!(verdict(ids[0], &records, &baselines).outcome, VerdictKind::Reproduced);
}

#[test]
fn modules_localize_better_after_the_same_number_of_steps_only() {
    let (mut records, baselines) = study();
    for run in records.iter_mut().filter(|run| is(run, "conv-ems", "*")) {
        run.points.truncate(16);
    }
    let found = verdict("localization-conv-above-ems", &records, &baselines);
    assert_eq!(found.outcome, VerdictKind::NotEnoughData, "{found:#?}");
    assert!(
        found.found.contains("after 1,500 steps") && found.found.contains("after 2,000 steps"),
        "{found:#?}"
    );
    assert_eq!(found.why, "they learned for different numbers of steps");
}

/// An interval that includes 0 contradicts the paper only if it does not include the paper's value.
#[test]
fn wide_intervals_settle_nothing() {
    let judged = |more: [f64; 3]| {
        let (mut records, baselines) = study();
        beside_ems(&mut records, more);
        verdict("efficiency-above-no-symm", &records, &baselines)
    };
    let narrow = judged([-0.03, 0.005, 0.01]);
    assert_eq!(narrow.outcome, VerdictKind::NotReproduced, "{narrow:#?}");
    assert!(narrow.why.starts_with("no significant difference"), "{narrow:#?}");
    let wide = judged([-0.2, 0.04, 0.04]);
    assert_eq!(wide.outcome, VerdictKind::NotEnoughData, "{wide:#?}");
    assert_eq!(wide.why, "the interval includes both 0 and the paper's +0.053");
}

/// Findings are shown even if they are not enough.
#[test]
fn a_part_of_a_study_is_told_with_how_much_it_is() {
    let (mut records, baselines) = study();
    records.retain(|run| run.task.starts_with("sr-") || run.task == "localization");
    let found = verdict("efficiency-above-no-symm", &records, &baselines);
    assert_eq!(found.outcome, VerdictKind::NotEnoughData);
    assert_eq!(found.n, "4 tasks, 3 seeds each");
    assert!(found.found.starts_with("+0.0"), "{found:#?}");
    assert!(found.why.starts_with("48 more runs are needed"), "{found:#?}");
    // Nothing but one run.
    let records = [alone("ems", "sr-2way", 1, points(|_| 0.5))];
    let found = findings(&records, &[]);
    assert!(found.presets[0].verdicts.iter().all(|verdict| verdict.outcome == VerdictKind::NotEnoughData));
    assert!(found.presets[0].verdicts.iter().all(|verdict| !verdict.has_runs && verdict.found == "nothing"));
    // A module alone has no N-AUC of 1.000.
    let records = [1, 2, 3].map(|seed| alone("ems", "localization", seed, points(|_| 0.5)));
    let found = verdict("efficiency-highest", &records, &[]);
    assert_eq!((found.has_runs, found.found.as_str()), (false, "nothing"), "{found:#?}");
    assert!(verdict("localization-above-0.4", &records, &[]).has_runs);
}

#[test]
fn presets_are_judged_apart() {
    let (mut records, baselines) = study();
    let mut paper = records.clone();
    paper.iter_mut().for_each(|run| run.preset = "paper".into());
    change(&mut paper, |run| is(run, "no-symm", "*"), |_, _| 0.99);
    records.extend(paper);
    let found = findings(&records, &baselines);
    let outcome = |idx: usize| found.presets[idx].verdicts[0].outcome;
    assert_eq!((outcome(0), outcome(1)), (VerdictKind::Reproduced, VerdictKind::NotReproduced));
    assert_eq!(found.presets[1].verdicts[0].preset, "paper");
}
