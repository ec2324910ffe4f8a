//! Placement pools: every screen shown is listed, rewards are exact, and no screen reveals the answer.
#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;
use std::sync::Arc;
use touchstream_env::conformance::{Effort, check_task_with};
use touchstream_env::plain_stimuli::PlainStimuli;
use touchstream_env::schedule::Schedule;
use touchstream_env::seed::{RunSeed, StreamName};
use touchstream_env::stimuli::{ImageId, Split, Stimuli};
use touchstream_env::stream::Stream;
use touchstream_env::task::{find_task, paper_tasks};
use touchstream_env::touch::Touch;
use touchstream_env::trial::{BoundTask, PlacementChoice, PlacementPool, Placements, ScreenRecipe, Trial};

const POOL: PlacementChoice = PlacementChoice::Pool(PlacementPool { n: PlacementPool::DEFAULT_N, seed: 0 });

fn stimuli() -> Arc<dyn Stimuli> {
    Arc::new(PlainStimuli::new(8))
}

fn bind(id: &str, split: Split, placements: PlacementChoice) -> BoundTask {
    BoundTask::with_placements(find_task(id).unwrap(), stimuli(), split, placements).unwrap()
}

fn open(id: &str, split: Split, seed: u64, placements: PlacementChoice) -> Stream {
    let schedule = Schedule::single(find_task(id).unwrap());
    Stream::open_with(schedule, stimuli(), split, RunSeed(seed), placements).unwrap().0
}

fn match_screens(screens: &[ScreenRecipe]) -> Vec<Placements> {
    let placements = |screen: &ScreenRecipe| match screen {
        ScreenRecipe::Templates { placements, .. } => Some(*placements),
        ScreenRecipe::Whole { .. } => None,
    };
    screens.iter().filter_map(placements).collect()
}

/// How often each match screen was paired with each sample class.
fn usage(id: &str, seed: u64, n_trials: u64) -> BTreeMap<Placements, BTreeMap<u16, u32>> {
    let mut stream = open(id, Split::Train, seed, POOL);
    let mut usage: BTreeMap<Placements, BTreeMap<u16, u32>> = BTreeMap::new();
    for trial in 0..n_trials {
        stream.seek(trial).unwrap();
        let Trial::Templates { sample: ImageId::Portrait { class, .. }, placements, .. } = *stream.trial()
        else {
            panic!("{:?}", stream.trial())
        };
        *usage.entry(placements).or_default().entry(class.0).or_default() += 1;
    }
    usage
}

#[test]
fn every_screen_that_is_shown_is_listed() {
    let mut touches = RunSeed(5).stream(StreamName::new("test"), 0);
    for task in paper_tasks() {
        for split in Split::ALL {
            let listed = bind(task.id(), split, POOL).screens().unwrap();
            assert!(listed.is_sorted_by(|a, b| a < b), "{}: sorted, each once", task.id());
            let mut stream = open(task.id(), split, 3, POOL);
            let mut seen = BTreeSet::new();
            for _ in 0..20_000 {
                assert!(
                    listed.binary_search(&stream.recipe()).is_ok(),
                    "{}: {:?}",
                    task.id(),
                    stream.recipe()
                );
                seen.insert(stream.recipe());
                stream.touch(Touch::uniform(&mut touches));
            }
            assert_eq!(seen.len(), listed.len(), "{}: every listed screen is shown", task.id());
        }
    }
}

#[test]
fn few_free_screens_are_listed() {
    let free = |id| bind(id, Split::Train, PlacementChoice::Free).screens();
    assert_eq!(match_screens(&free("mts-2way-stationary").unwrap()).len(), 1);
    assert_eq!(match_screens(&free("mts-2way-horiz-flip").unwrap()).len(), 2);
    assert_eq!(match_screens(&free("mts-4way-2shown").unwrap()).len(), 4 * 3);
    assert_eq!(match_screens(&free("mts-4way-4shown-permuted").unwrap()).len(), 24);
    // Of the twelve, those that show 0 and 3 or 1 and 2.
    assert_eq!(match_screens(&free("mts-4way-2shown+class-reversal").unwrap()).len(), 4);
    assert!(free("mts-2way-vert-motion").is_none());
    for id in ["mts-2way-horiz-flip", "mts-4way-2shown", "mts-4way-4shown-permuted", "sr-2way", "coco-mts"] {
        assert_eq!(free(id), bind(id, Split::Train, POOL).screens(), "{id}: a pool of all");
    }
}

#[test]
fn tasks_conform_with_pools() {
    let transformed = [
        "mts-2way-vert-motion-horiz-flip+class-reversal",
        "mts-4way-2shown-vert-motion+class-reversal",
        "mts-4way-2shown-vert-motion+squeezed-map+rotation",
        "mts-2way-vert-motion+squeezed-map",
        "mts-4way-2shown+class-reversal",
    ];
    let papers = paper_tasks().iter().map(|task| task.id()).filter(|id| id.starts_with("mts"));
    for id in papers.chain(transformed) {
        let effort = Effort { n_trials: 1000, ..Effort::QUICK };
        for n in [1, 500] {
            let pool = PlacementPool { n: NonZeroU32::new(n).unwrap(), seed: 7 };
            let task = find_task(id).unwrap();
            check_task_with(&task, &stimuli(), PlacementChoice::Pool(pool), RunSeed(11), effort)
                .unwrap_or_else(|error| panic!("{id}, {n} screens: {error}"));
        }
    }
}

#[test]
fn chance_stays_near_that_of_free_placements() {
    for id in ["mts-2way-vert-motion+squeezed-map", "mts-4way-2shown-vert-motion+squeezed-map"] {
        let [free, pooled] = [PlacementChoice::Free, POOL].map(|choice| bind(id, Split::Train, choice));
        let (free, pooled) = (free.exact_rewards(1), pooled.exact_rewards(1));
        assert!((free.chance - pooled.chance).abs() < 0.01, "{id}: {free:?} {pooled:?}");
        assert_eq!(pooled.basis.screens(), Some((500, 500)), "{id}");
    }
}

#[test]
fn run_seeds_share_screens_and_splits_do_not() {
    for id in ["mts-2way-vert-motion", "mts-4way-2shown-vert-motion"] {
        let of_run = |seed| usage(id, seed, 20_000).into_keys().collect::<BTreeSet<_>>();
        assert_eq!(of_run(1), of_run(2), "{id}");
        let of_split = |split| match_screens(&bind(id, split, POOL).screens().unwrap());
        let [train, validation] = Split::ALL.map(of_split);
        assert_eq!((train.len(), validation.len()), (500, 500), "{id}");
        let n_shared = train.iter().filter(|screen| validation.contains(screen)).count();
        assert!(n_shared < 50, "{id}: {n_shared} screens are in both splits");
        let other = PlacementChoice::Pool(PlacementPool { seed: 1, ..PlacementPool::default() });
        assert_ne!(train, match_screens(&bind(id, Split::Train, other).screens().unwrap()), "{id}");
    }
}

#[test]
fn a_match_screen_does_not_reveal_the_sample() {
    for id in ["mts-2way-vert-motion", "mts-2way-vert-motion-horiz-flip", "mts-4way-2shown-vert-motion"] {
        let usage = usage(id, 9, 100_000);
        assert_eq!(usage.len(), 500, "{id}");
        let mut chi_square = 0.0;
        for (screen, samples) in &usage {
            let shown: BTreeSet<u16> = screen.as_slice().iter().map(|placement| placement.class.0).collect();
            assert_eq!(samples.keys().copied().collect::<BTreeSet<_>>(), shown, "{id}: {screen:?}");
            let n = f64::from(samples.values().sum::<u32>());
            chi_square +=
                samples.values().map(|&k| (f64::from(k) - n / 2.0).powi(2) / (n / 2.0)).sum::<f64>();
        }
        // 500 degrees of freedom: a standard deviation of 32.
        assert!((chi_square - 500.0).abs() < 5.0 * 32.0, "{id}: {chi_square}");
    }
}

/// Also for layouts that show only two of four classes, where random choice would be uneven.
#[test]
fn every_class_is_on_equally_many_screens() {
    let screens = match_screens(&bind("mts-4way-2shown-vert-motion", Split::Train, POOL).screens().unwrap());
    let shows =
        |class: u16| screens.iter().filter(|s| s.as_slice().iter().any(|p| p.class.0 == class)).count();
    assert_eq!([0, 1, 2, 3].map(shows), [250; 4]);
}

#[test]
fn snapshots_and_continued_streams_keep_the_pool() {
    let free = open("mts-2way-vert-motion", Split::Train, 1, PlacementChoice::Free);
    let mut pooled = open("mts-2way-vert-motion", Split::Train, 1, POOL);
    assert!(pooled.restore(&free.snapshot()).is_err());
    assert!(pooled.restore(&pooled.snapshot()).is_ok());
    let next = pooled.continue_with(Schedule::single(find_task("mts-2way-vert-motion-horiz-flip").unwrap()));
    let next = next.unwrap();
    assert_eq!((next.placements(), next.bound_task().placements()), (POOL, POOL));
}

/// Screens that two tasks have in common are encoded once.
#[test]
fn a_task_and_its_class_reversal_share_their_screens() {
    let of = |id: &str| match_screens(&bind(id, Split::Train, POOL).screens().unwrap());
    let [plain, reversed] =
        ["", "+class-reversal"].map(|by| of(&format!("mts-2way-vert-motion-horiz-flip{by}")));
    assert_eq!((plain.len(), &plain), (500, &reversed));
    // With two of four shown, the reversal only shows pairs of a class and its reverse, on screens of the original task.
    let [plain, reversed] = ["", "+class-reversal"].map(|by| of(&format!("mts-4way-2shown-vert-motion{by}")));
    let is_pair =
        |screen: &&Placements| screen.as_slice().iter().map(|shown| shown.class.0).sum::<u16>() == 3;
    let pairs: Vec<&Placements> = plain.iter().filter(is_pair).collect();
    assert!(pairs.len() > 100 && pairs.iter().all(|pair| reversed.contains(pair)), "{}", pairs.len());
}
