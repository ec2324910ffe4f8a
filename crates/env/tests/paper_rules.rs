//! The rules of the paper's tasks and switches, written out by hand: what is shown, where the reward is.
//!
//! The tables here are typed from the paper (supplement, "Task Variants" and "Experiment details"), not derived
//! from the code's own.

#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use touchstream_env::plain_stimuli::PlainStimuli;
use touchstream_env::reward_map::RewardMap;
use touchstream_env::schedule::{NAMED_SCHEDULES, Schedule};
use touchstream_env::seed::RunSeed;
use touchstream_env::stimuli::{ImageId, Split};
use touchstream_env::stream::Stream;
use touchstream_env::task::{find_task, paper_tasks};
use touchstream_env::touch::Touch;
use touchstream_env::trial::Trial;

/// `[top, bottom, left, right]`, bottom and right excluded.
type Region = [usize; 4];

const LEFT: Region = [0, 224, 0, 112];
const RIGHT: Region = [0, 224, 112, 224];
const UP: Region = [0, 112, 0, 224];
const DOWN: Region = [112, 224, 0, 224];
const UP_LEFT: Region = [0, 112, 0, 112];
const UP_RIGHT: Region = [0, 112, 112, 224];
const DOWN_LEFT: Region = [112, 224, 0, 112];
const DOWN_RIGHT: Region = [112, 224, 112, 224];

fn open(task: &str) -> Stream {
    let schedule = Schedule::single(find_task(task).unwrap());
    Stream::open(schedule, Arc::new(PlainStimuli::new(8)), Split::Train, RunSeed(4)).unwrap().0
}

fn shown_class(image: ImageId) -> u16 {
    match image {
        ImageId::Portrait { class, .. } => class.0,
        other => panic!("{other:?} is not a portrait"),
    }
}

#[track_caller]
fn check_map(stream: &Stream, [top, bottom, left, right]: Region, what: &str) {
    let mut map = RewardMap::zeros();
    stream.reward_map(&mut map);
    for touch in Touch::all() {
        let inside = (top..bottom).contains(&touch.row()) && (left..right).contains(&touch.col());
        assert_eq!(map.at(touch), f32::from(u8::from(inside)), "{what} {touch:?}");
        if touch.index() % 997 == 0 {
            assert_eq!(stream.clone().touch(touch), map.at(touch), "{what} {touch:?}");
        }
    }
}

/// Which class of the source is shown, and where it is rewarded.
#[test]
fn stimulus_response_rewards_each_class_in_its_region() {
    let cases: [(&str, &[(u16, Region)]); 8] = [
        ("sr-2way", &[(0, LEFT), (1, RIGHT)]),
        ("sr-4way-double-binary", &[(0, LEFT), (1, RIGHT), (2, LEFT), (3, RIGHT)]),
        ("sr-4way-quadrant", &[(0, UP_LEFT), (1, UP_RIGHT), (2, DOWN_LEFT), (3, DOWN_RIGHT)]),
        ("sr-2way+new-classes", &[(2, LEFT), (3, RIGHT)]),
        ("sr-2way+class-reversal", &[(0, RIGHT), (1, LEFT)]),
        ("sr-2way+squeezed-map", &[(0, UP_LEFT), (1, UP_RIGHT)]),
        // Right becomes up and left becomes down.
        ("sr-2way+rotation", &[(0, DOWN), (1, UP)]),
        ("sr-4way-quadrant+rotation", &[(0, DOWN_LEFT), (1, UP_LEFT), (2, DOWN_RIGHT), (3, UP_RIGHT)]),
    ];
    for (task, regions) in cases {
        let mut stream = open(task);
        let regions: BTreeMap<u16, Region> = regions.iter().copied().collect();
        let mut seen = BTreeSet::new();
        for trial in 0..40 {
            stream.seek(trial).unwrap();
            let Trial::StimulusResponse { portrait, .. } = *stream.trial() else { panic!("{task}") };
            let class = shown_class(portrait);
            check_map(&stream, regions[&class], task);
            seen.insert(class);
        }
        assert_eq!(seen, regions.keys().copied().collect(), "{task}");
    }
}

/// The places that templates take, which classes are shown, and that the sample's own is rewarded.
#[test]
fn match_to_sample_shows_and_rewards_the_papers_layouts() {
    const PAIR: &[[u8; 2]] = &[[62, 6], [62, 118]];
    const GRID: &[[u8; 2]] = &[[6, 6], [6, 118], [118, 6], [118, 118]];
    struct Layout {
        task: &'static str,
        n_classes: u16,
        columns: &'static [u8],
        /// All places, where heights are fixed.
        places: Option<&'static [[u8; 2]]>,
        /// Whether class i is always in place (or column) i.
        is_ordered: bool,
    }
    let row = |task, n_classes, places, is_ordered| {
        let columns: &[u8] = &[6, 118];
        Layout { task, n_classes, columns, places, is_ordered }
    };
    let layouts = [
        row("mts-2way-stationary", 2, Some(PAIR), true),
        row("mts-2way-horiz-flip", 2, Some(PAIR), false),
        row("mts-2way-vert-motion", 2, None, true),
        row("mts-2way-vert-motion-horiz-flip", 2, None, false),
        row("mts-4way-2shown", 4, Some(PAIR), false),
        row("mts-4way-2shown-vert-motion", 4, None, false),
        row("mts-4way-4shown-stationary", 4, Some(GRID), true),
        row("mts-4way-4shown-permuted", 4, Some(GRID), false),
    ];
    for layout in layouts {
        let mut stream = open(layout.task);
        let (mut sampled, mut orders, mut tops) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        for trial in 0..4000 {
            stream.seek(trial).unwrap();
            let Trial::Templates { sample, placements, .. } = *stream.trial() else {
                panic!("{}", layout.task)
            };
            let shown = placements.as_slice();
            let places: Vec<[u8; 2]> = shown.iter().map(|p| [p.top, p.left]).collect();
            match layout.places {
                Some(expected) => assert_eq!(places, expected, "{}", layout.task),
                None => {
                    assert_eq!(shown.iter().map(|p| p.left).collect::<Vec<_>>(), layout.columns);
                    tops.extend(shown.iter().map(|p| p.top));
                }
            }
            sampled.insert(shown_class(sample));
            orders.insert(shown.iter().map(|p| p.class.0).collect::<Vec<_>>());
            if trial < 12 {
                check_map(&stream, [0, 0, 0, 0], "the sample screen");
                stream.touch(Touch::new(0, 0).unwrap());
                let own = shown.iter().find(|p| p.class.0 == shown_class(sample)).unwrap();
                let (top, left) = (usize::from(own.top), usize::from(own.left));
                check_map(&stream, [top, top + 100, left, left + 100], layout.task);
            }
        }
        assert_eq!(sampled.len(), usize::from(layout.n_classes), "{}", layout.task);
        let n_orders = match (layout.is_ordered, layout.n_classes, layout.places.map_or(2, <[_]>::len)) {
            (true, _, _) => 1,
            (false, n, 2) => usize::from(n) * usize::from(n - 1),
            (false, _, _) => 24,
        };
        assert_eq!(orders.len(), n_orders, "{}", layout.task);
        if layout.places.is_none() {
            assert_eq!(
                (tops.first(), tops.last(), tops.len()),
                (Some(&6), Some(&118), 113),
                "{}",
                layout.task
            );
        }
    }
}

/// The thirteen tasks and, of the paper's table, base and switch task.
#[test]
fn ids_and_switches_match_the_paper() {
    let ids: Vec<&str> = paper_tasks().iter().map(|task| task.id()).collect();
    assert_eq!(
        ids,
        [
            "sr-2way",
            "sr-4way-double-binary",
            "sr-4way-quadrant",
            "mts-2way-stationary",
            "mts-2way-horiz-flip",
            "mts-2way-vert-motion",
            "mts-2way-vert-motion-horiz-flip",
            "mts-4way-2shown",
            "mts-4way-2shown-vert-motion",
            "mts-4way-4shown-stationary",
            "mts-4way-4shown-permuted",
            "localization",
            "coco-mts",
        ]
    );
    let switches: Vec<(&str, &str, &str)> =
        NAMED_SCHEDULES.iter().map(|row| (row.id, row.base, row.switch)).collect();
    assert_eq!(
        switches,
        [
            ("no-switch", "sr-2way", "sr-2way"),
            ("switch-1", "sr-2way", "sr-2way+new-classes"),
            ("switch-2", "sr-2way", "sr-4way-double-binary"),
            ("switch-3", "mts-2way-stationary", "mts-2way-stationary+new-classes"),
            ("switch-4", "sr-2way", "mts-2way-stationary"),
            ("switch-5", "mts-2way-stationary", "sr-2way"),
            ("switch-6", "mts-2way-stationary", "mts-2way-vert-motion-horiz-flip"),
            ("switch-7", "mts-2way-vert-motion-horiz-flip", "mts-4way-2shown-vert-motion"),
            ("switch-8", "mts-4way-2shown-vert-motion", "mts-4way-4shown-permuted"),
            ("switch-9", "sr-4way-double-binary", "mts-4way-4shown-stationary"),
            ("switch-10", "mts-4way-4shown-stationary", "sr-4way-quadrant"),
            ("switch-11", "sr-2way", "sr-4way-quadrant"),
            ("switch-12", "sr-4way-double-binary", "sr-4way-quadrant"),
            ("switch-13", "sr-2way", "sr-2way+class-reversal"),
            ("switch-14", "sr-2way", "sr-2way+squeezed-map"),
            ("switch-15", "sr-2way", "sr-2way+rotation"),
        ]
    );
}

/// Touching two opposite corners of the true box earns 1, in either order; other boxes their overlap.
#[test]
fn localization_rewards_the_second_touch_with_the_overlap() {
    let mut stream = open("localization");
    for trial in 0..20 {
        stream.seek(trial).unwrap();
        let Trial::Localization { bounds, .. } = *stream.trial() else { panic!("not localization") };
        let corner = |row, col| Touch::new(row, col).unwrap();
        let (top, left, bottom, right) = (bounds.top(), bounds.left(), bounds.bottom(), bounds.right());
        let play = |first: Touch, second: Touch| {
            let mut fork = stream.clone();
            assert_eq!(fork.touch(first), 0.0);
            fork.touch(second)
        };
        assert_eq!(play(corner(top, left), corner(bottom, right)), 1.0);
        assert_eq!(play(corner(bottom, right), corner(top, left)), 1.0);
        assert_eq!(play(corner(top, right), corner(bottom, left)), 1.0);
        let half = top + bounds.height_px() / 2 - 1;
        let half_area = (half - top + 1) as f32 / bounds.height_px() as f32;
        assert!((play(corner(top, left), corner(half, right)) - half_area).abs() < 1e-6);
        let whole_screen = bounds.area_px() as f32 / 50_176.0;
        assert!((play(corner(0, 0), corner(223, 223)) - whole_screen).abs() < 1e-6);
    }
}
