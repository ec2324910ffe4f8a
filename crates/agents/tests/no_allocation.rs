//! The loop allocates nothing: every allocation of the process is counted.

#![allow(clippy::unwrap_used)]

mod pixel_scenes;

use pixel_scenes::world;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};
use touchstream_agents::{AgentSettings, FeatureSource, Remap};
use touchstream_env::seed::RunSeed;
use touchstream_env::task::find_task;
use touchstream_modules::composite::{Voting, VotingSettings};

struct Counting;

static N_ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: all calls go on to the system's allocator unchanged.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        N_ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// One test, because the count is of the whole process.
#[test]
fn playing_and_learning_allocate_nothing() {
    one_module_allocates_nothing();
    a_composite_allocates_nothing();
}

fn one_module_allocates_nothing() {
    for (task, module, units) in [
        ("sr-4way-quadrant", "ems", None),
        ("mts-4way-2shown-vert-motion", "ems", None),
        ("mts-2way-stationary", "none-tanh-medium", None),
        ("localization", "no-symm", None),
        // Two kernels read the output of convolutions.
        ("localization", "conv-ems", Some(8)),
        ("localization", "conv-ems", Some(128)),
    ] {
        let (mut train, _, scenes) = world(task, 1);
        let mut settings = AgentSettings::for_task(module, &find_task(task).unwrap()).unwrap();
        if let Some(units) = units {
            settings.module.units.fill(units);
            (settings.n_targets, settings.dropout) = (3, 0.25);
        }
        if module == "no-symm" {
            settings.dropout = 0.25;
        }
        let mut agent = Remap::new(settings, scenes.shape(), RunSeed(1)).unwrap();
        agent.play(&mut train, &scenes).unwrap();
        let before = N_ALLOCATIONS.load(Ordering::Relaxed);
        for _ in 0..20 {
            agent.play(&mut train, &scenes).unwrap();
        }
        assert_eq!(N_ALLOCATIONS.load(Ordering::Relaxed) - before, 0, "{module} on {task}");
    }
}

fn a_composite_allocates_nothing() {
    for (task, module, voting) in [
        ("sr-4way-quadrant", "ems", Voting::Layer),
        ("sr-4way-quadrant", "ems", Voting::Unit),
        ("mts-2way-stationary", "none-tanh-small", Voting::Layer),
        ("localization", "conv-ems", Voting::Unit),
    ] {
        let (mut train, _, scenes) = world(task, 1);
        let mut settings = AgentSettings::for_task(module, &find_task(task).unwrap()).unwrap();
        if module == "conv-ems" {
            settings.module.units.fill(8);
        }
        let mut agent = Remap::new(settings.clone(), scenes.shape(), RunSeed(1)).unwrap();
        for _ in 0..3 {
            agent.compose(settings.clone(), VotingSettings::of(voting), &scenes);
            agent.play(&mut train, &scenes).unwrap();
        }
        let before = N_ALLOCATIONS.load(Ordering::Relaxed);
        for _ in 0..20 {
            agent.play(&mut train, &scenes).unwrap();
        }
        assert_eq!(N_ALLOCATIONS.load(Ordering::Relaxed) - before, 0, "{module} on {task}, {voting:?}");
    }
}
