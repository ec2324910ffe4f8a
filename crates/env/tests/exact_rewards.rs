//! Chance levels and best rewards against the figures of the paper and against counting by hand.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use touchstream_env::plain_stimuli::PlainStimuli;
use touchstream_env::stimuli::Split;
use touchstream_env::task::find_task;
use touchstream_env::trial::BoundTask;

#[track_caller]
fn check(id: &str, chance: f64, best: f64) {
    let exact = find_task(id).unwrap().geometric_rewards().unwrap();
    assert!((exact.chance - chance).abs() < 1e-7, "{id}: chance {}", exact.chance);
    assert!((exact.best - best).abs() < 1e-7, "{id}: best {}", exact.best);
}

#[test]
fn chance_levels_match_the_paper() {
    let button = 10_000.0 / 50_176.0;
    check("sr-2way", 0.5, 1.0);
    check("sr-4way-double-binary", 0.5, 1.0);
    check("sr-4way-quadrant", 0.25, 1.0);
    for id in [
        "mts-2way-stationary",
        "mts-2way-horiz-flip",
        "mts-2way-vert-motion",
        "mts-2way-vert-motion-horiz-flip",
        "mts-4way-2shown",
        "mts-4way-2shown-vert-motion",
        "mts-4way-4shown-stationary",
        "mts-4way-4shown-permuted",
    ] {
        check(id, button, 1.0);
    }
}

#[test]
fn transformations_change_chance_and_best() {
    check("sr-2way+squeezed-map", 0.25, 1.0);
    check("sr-2way+rotation", 0.5, 1.0);
    // Two of four quadrants are squeezed away.
    check("sr-4way-quadrant+squeezed-map", 0.125, 0.5);
    // A centred template keeps rows 62 to 111 of its 62 to 161.
    check("mts-2way-stationary+squeezed-map", 5_000.0 / 50_176.0, 1.0);
    // Grid templates at rows 6 and 118: the lower two are gone.
    check("mts-4way-4shown-permuted+squeezed-map", 5_000.0 / 50_176.0, 0.5);
}

#[test]
fn exact_rewards_of_image_dependent_tasks() {
    let exact = |id: &str| {
        let bound =
            BoundTask::new(find_task(id).unwrap(), Arc::new(PlainStimuli::new(8)), Split::Train).unwrap();
        bound.exact_rewards(16)
    };
    assert!(find_task("localization").unwrap().geometric_rewards().is_none());
    let (whole, squeezed) = (exact("localization"), exact("localization+squeezed-map"));
    assert_eq!(whole.best, 1.0);
    assert!(squeezed.best < 1.0 && squeezed.chance < whole.chance, "{whole:?} {squeezed:?}");
    assert!((0.02..0.3).contains(&whole.chance), "{whole:?}");
    let scenes = exact("coco-mts");
    assert_eq!(scenes.best, 1.0);
    // Rectangles of 40 to 100 pixels a side cover 0.1 of the screen on average.
    assert!((0.05..0.15).contains(&scenes.chance), "{scenes:?}");
}
