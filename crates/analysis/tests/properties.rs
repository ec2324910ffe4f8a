//! What must hold for all records, however odd.

#![allow(clippy::unwrap_used)]

mod made_up;

use made_up::study;
use proptest::prelude::*;
use touchstream_analysis::{Baseline, CLAIMS, Findings, Point, RunKind, RunRecord, SwitchMethod, findings};
use touchstream_env::seed::{RunSeed, StreamName};

/// Equal texts are equal bits. NaN would be written as `null`, where a number is wanted.
fn text(found: &Findings) -> String {
    serde_json::to_string(found).unwrap()
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        8 => 0.0..=1.0,
        1 => prop::sample::select(vec![0.0, 1.0, -1.0, 1e300, -0.0, f64::MIN_POSITIVE]),
        1 => prop::sample::select(vec![f64::NAN, f64::INFINITY, f64::NEG_INFINITY]),
    ]
}

fn share() -> impl Strategy<Value = Option<f64>> {
    prop::option::weighted(0.9, number())
}

/// Mostly every 100 steps, in 0 to 12 evaluations; some odd numbers, equal steps, time that runs backwards.
fn curve() -> impl Strategy<Value = Vec<Point>> {
    let steps = prop_oneof![6 => Just(100), 1 => Just(0), 1 => Just(u64::MAX / 8)];
    let sound = prop::collection::vec((0.0..=1.0_f64, 0.0..=1.0_f64), 12).prop_map(|rewards| {
        let point = |(step, (reward, share))| Point {
            step,
            reward,
            train_reward: None,
            on_object: Some(share),
            reuse: Some(share),
        };
        (0..).step_by(100).zip(rewards).map(point).collect::<Vec<_>>()
    });
    let odd = (steps, prop::collection::vec((number(), share(), share()), 0..12), any::<bool>()).prop_map(
        |(stride, rewards, is_reversed)| {
            let points = rewards.into_iter().enumerate().map(|(idx, (reward, on_object, reuse))| Point {
                step: stride * (idx as u64 % 8),
                reward,
                train_reward: None,
                on_object,
                reuse,
            });
            if is_reversed { points.rev().collect() } else { points.collect() }
        },
    );
    prop_oneof![3 => sound, 1 => odd]
}

fn record() -> impl Strategy<Value = RunRecord> {
    let names = |names: &'static [&'static str]| prop::sample::select(names).prop_map(String::from);
    let modules = names(&["ems", "no-symm", "none-relu-large", "conv-ems", "mine"]);
    let tasks =
        names(&["sr-2way", "mts-2way-stationary", "mts-4way-2shown", "localization", "coco-mts", "mine"]);
    let switches = names(&["switch-1", "switch-2", "switch-3", "no-switch"]);
    let ways = prop::sample::select(vec![
        SwitchMethod::Scratch,
        SwitchMethod::LAYER,
        SwitchMethod::UNIT,
        SwitchMethod::LAYER_PLAIN,
        SwitchMethod::LAYER_SHUFFLED,
    ]);
    let kind = prop_oneof![
        3 => Just((RunKind::SingleTask, None, Vec::new())),
        1 => number().prop_map(|rate| (RunKind::SingleTask, Some(rate), Vec::new())),
        3 => (switches, tasks.clone(), ways, share()).prop_map(|(switch, base_task, way, base_end)| {
            let base_curve = base_end.map(|end| (0, end)).into_iter().collect();
            (RunKind::Second { switch, base_task, base: "base".into(), way }, None, base_curve)
        }),
    ];
    let presets = names(&["default", "paper"]);
    (presets, modules, tasks, 0..4_u64, kind, curve()).prop_map(
        |(preset, module, task, seed, (kind, learning_rate, base_curve), points)| {
            let failure = (points.len() == 7).then(|| "it diverged".to_owned());
            RunRecord { preset, module, task, seed, kind, learning_rate, base_curve, points, failure }
        },
    )
}

fn baselines() -> impl Strategy<Value = Vec<Baseline>> {
    let one = (number(), prop::option::of((number(), number())), 0..3_usize);
    let svr = |(score, interval, n)| Baseline { name: "svr".into(), score, interval, n };
    prop::collection::vec(one.prop_map(svr), 0..3)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(48) })]

    #[test]
    fn odd_records_are_told_and_never_panic(
        records in prop::collection::vec(record(), 0..60),
        baselines in baselines(),
        by in any::<u64>(),
    ) {
        let found = findings(&records, &baselines);
        for preset in &found.presets {
            prop_assert_eq!(preset.verdicts.len(), CLAIMS.len());
            for verdict in &preset.verdicts {
                prop_assert!(!verdict.n.is_empty() && !verdict.found.is_empty() && !verdict.why.is_empty());
                for text in [&verdict.found, &verdict.why] {
                    prop_assert!(!text.contains("NaN") && !text.contains("inf"), "{:?}", verdict);
                }
            }
        }
        // JSON has no NaN: it would be read as another value.
        let shown = format!("{:?}", found.presets.iter().map(|preset| (&preset.modules, &preset.switching,
            &preset.learning_rates, &preset.localization, &preset.scenes)).collect::<Vec<_>>());
        prop_assert!(!shown.contains(": NaN") && !shown.contains(": inf") && !shown.contains(": -inf"));
        let mut shuffled = records.clone();
        RunSeed(by).stream(StreamName::new("test"), 0).shuffle(&mut shuffled);
        prop_assert_eq!(text(&findings(&shuffled, &baselines)), text(&found));
    }
}

#[test]
fn the_order_of_records_makes_no_difference() {
    let (mut records, baselines) = study();
    let wanted = text(&findings(&records, &baselines));
    records.reverse();
    assert_eq!(text(&findings(&records, &baselines)), wanted);
    RunSeed(1).stream(StreamName::new("test"), 0).shuffle(&mut records);
    assert_eq!(text(&findings(&records, &baselines)), wanted);
}

#[test]
fn nothing_says_nothing() {
    assert_eq!(findings(&[], &[]), Findings { presets: Vec::new() });
}
