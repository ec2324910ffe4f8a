//! The thirteen tasks on each source: every pair either keeps the whole contract or says what is missing.

#![allow(clippy::unwrap_used)]

mod made_sources;
mod real_images;

use real_images::real_data;
use touchstream_env::conformance::{Effort, Violation, check_task};
use touchstream_env::seed::RunSeed;
use touchstream_env::task::paper_tasks;
use touchstream_env::trial::BindError;
use touchstream_files::NoProgress;
use touchstream_stimuli::{Sizes, SourceOptions, SourceSpec, SplitCounts, open};

const EFFORT: Effort = Effort { n_trials: 120, n_screens: 6, n_maps: 4 };

/// Checks every task but those in `not_served`, which must be refused for want of images.
#[track_caller]
fn check_source(spec: &SourceSpec, options: &SourceOptions, not_served: &[&str]) {
    let opened = open(spec, options, &NoProgress).unwrap();
    for task in paper_tasks() {
        let outcome = check_task(task, &opened.stimuli, RunSeed(3), EFFORT);
        if not_served.contains(&task.id()) {
            assert!(
                matches!(outcome, Err(Violation::Bind(BindError::NoImages { .. }))),
                "{} on {spec}: {outcome:?}",
                task.id()
            );
        } else {
            let passed = outcome.unwrap_or_else(|violation| panic!("{} on {spec}: {violation}", task.id()));
            assert!(passed.n_steps >= 240 && passed.n_screens >= 12, "{passed:?}");
        }
    }
}

fn strict() -> SourceOptions {
    SourceOptions { strict: true, ..SourceOptions::default() }
}

#[test]
fn the_gallery_serves_every_task() {
    let cache = tempfile::tempdir().unwrap();
    let options = SourceOptions {
        cache_dir: Some(cache.path().into()),
        sizes: Sizes {
            portraits: Some(SplitCounts::new(4, 3)),
            objects: Some(SplitCounts::new(40, 24)),
            scenes: Some(SplitCounts::new(59, 59)),
        },
        ..SourceOptions::default()
    };
    check_source(&SourceSpec::Gallery, &options, &[]);
}

#[test]
fn a_made_folder_serves_what_needs_no_boxes_or_outlines() {
    let (_root, spec) = made_sources::folder();
    check_source(&spec, &strict(), &["localization", "coco-mts"]);
}

#[test]
fn made_coco_serves_every_task() {
    let (_root, spec) = made_sources::coco();
    check_source(&spec, &strict(), &[]);
}

#[test]
fn made_cutouts_serve_every_task() {
    let (_root, spec) = made_sources::cutouts();
    let sizes = Sizes {
        portraits: Some(SplitCounts::new(4, 3)),
        objects: Some(SplitCounts::new(40, 24)),
        scenes: Some(SplitCounts::new(30, 20)),
    };
    check_source(&spec, &SourceOptions { sizes, ..strict() }, &[]);
}

#[test]
fn photos_serve_what_needs_no_boxes_or_outlines() {
    let Some(root) = real_data("photos") else { return };
    check_source(&SourceSpec::Folder(root), &SourceOptions::default(), &["localization", "coco-mts"]);
}

#[test]
fn coco_serves_every_task() {
    let Some(root) = real_data("coco-mini") else { return };
    check_source(&SourceSpec::Coco(root), &SourceOptions::default(), &[]);
}

#[test]
fn cutouts_serve_every_task() {
    let Some(root) = real_data("cutouts59") else { return };
    check_source(&SourceSpec::Cutouts(root), &SourceOptions::default(), &[]);
}
