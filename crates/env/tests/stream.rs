//! Streams with switches: cues, segment lengths, snapshots, seeking.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use touchstream_env::plain_stimuli::PlainStimuli;
use touchstream_env::schedule::{AfterLast, Length, Schedule, Segment, find_schedule};
use touchstream_env::seed::RunSeed;
use touchstream_env::stimuli::Split;
use touchstream_env::stream::{CueReader, RestoreError, Stream};
use touchstream_env::task::find_task;
use touchstream_env::touch::Touch;
use touchstream_env::trial::Trial;

fn open(schedule: Schedule, seed: u64) -> (Stream, CueReader) {
    Stream::open(schedule, Arc::new(PlainStimuli::new(8)), Split::Train, RunSeed(seed)).unwrap()
}

fn touch() -> Touch {
    Touch::new(100, 100).unwrap()
}

fn segment(id: &str, length: Length) -> Segment {
    Segment { task: find_task(id).unwrap(), length }
}

#[test]
fn a_switch_is_cued_once_and_only_to_the_reader() {
    let (mut stream, cues) = open(find_schedule("switch-4", 10).unwrap(), 1);
    for step in 0..40 {
        let expected = if step < 10 { "sr-2way" } else { "mts-2way-stationary" };
        assert_eq!(stream.bound_task().task().id(), expected);
        assert_eq!(cues.read(&stream).map(|cue| cue.n_switches), (step == 10).then_some(1), "step {step}");
        stream.touch(touch());
    }
}

#[test]
fn a_trial_is_never_cut() {
    let segments =
        vec![segment("mts-2way-stationary", Length::Steps(5)), segment("sr-2way", Length::Steps(3))];
    let (mut stream, cues) = open(Schedule::new("x", segments, AfterLast::Repeat).unwrap(), 1);
    let switches: Vec<u64> = (0..20)
        .filter_map(|_| {
            let cue = cues.read(&stream).map(|_| stream.n_steps());
            stream.touch(touch());
            cue
        })
        .collect();
    assert_eq!(switches, [6, 9, 15, 18]);
}

#[test]
fn drawn_lengths_stay_in_their_range_and_follow_the_seed() {
    let schedule = || {
        let length = Length::Between { min: 3, max: 9 };
        let segments = vec![segment("sr-2way", length), segment("sr-4way-quadrant", length)];
        Schedule::new("x", segments, AfterLast::Repeat).unwrap()
    };
    let lengths = |seed: u64| {
        let (mut stream, cues) = open(schedule(), seed);
        let mut starts = vec![0];
        while starts.len() < 200 {
            stream.touch(touch());
            starts.extend(cues.read(&stream).map(|_| stream.n_steps()));
        }
        starts.windows(2).map(|pair| pair[1] - pair[0]).collect::<Vec<_>>()
    };
    let of_seed_1 = lengths(1);
    assert_eq!(of_seed_1.iter().min(), Some(&3));
    assert_eq!(of_seed_1.iter().max(), Some(&9));
    assert_eq!(of_seed_1, lengths(1));
    assert_ne!(of_seed_1, lengths(2));
}

#[test]
fn seeking_across_switches_is_playing() {
    let length = Length::Between { min: 3, max: 9 };
    let segments =
        vec![segment("sr-2way", length), segment("mts-4way-2shown", length), segment("localization", length)];
    let (mut played, _) = open(Schedule::new("x", segments, AfterLast::Repeat).unwrap(), 5);
    let mut sought = played.fork();
    for trial in 0..200 {
        while played.trial_index() < trial {
            played.touch(touch());
        }
        sought.seek(trial);
        assert_eq!(sought.snapshot(), played.snapshot(), "trial {trial}");
        assert_eq!(sought.trial(), played.trial(), "trial {trial}");
    }
}

#[test]
fn snapshots_of_other_streams_and_damaged_ones_are_refused() {
    let (mut stream, _) = open(find_schedule("switch-4", 10).unwrap(), 1);
    let others = [
        open(find_schedule("switch-4", 10).unwrap(), 2).0,
        open(find_schedule("switch-4", 11).unwrap(), 1).0,
        open(find_schedule("switch-5", 10).unwrap(), 1).0,
    ];
    for other in &others {
        assert_eq!(stream.restore(&other.snapshot()), Err(RestoreError::Foreign));
    }
    let good = toml::to_string(&stream.snapshot()).unwrap();
    for (from, to) in [
        ("trial_index = 0", "trial_index = 10"),
        ("segment = 0", "segment = 7"),
        ("segment_end_trial = 10", "segment_end_trial = 9"),
    ] {
        assert!(good.contains(from), "{good}");
        let damaged = toml::from_str(&good.replace(from, to)).unwrap();
        assert_eq!(stream.restore(&damaged), Err(RestoreError::Damaged), "{to}");
    }
    assert_eq!(stream.restore(&toml::from_str(&good).unwrap()), Ok(()));
}

/// The sample's class must be equally often in each slot, and distractors equally often each class.
#[test]
fn two_of_four_templates_are_drawn_evenly() {
    let (mut stream, _) = open(Schedule::single(find_task("mts-4way-2shown").unwrap()), 3);
    let (mut n_left, mut n_other) = (0_u32, [[0_u32; 4]; 4]);
    let n_trials = 12_000;
    for trial in 0..n_trials {
        stream.seek(trial);
        let Trial::Templates { placements, rewarded_slot, .. } = *stream.trial() else {
            panic!("not templates")
        };
        n_left += u32::from(rewarded_slot == 0);
        let [first, second] = placements.as_slice() else { panic!("not two") };
        let (rewarded, other) = if rewarded_slot == 0 { (first, second) } else { (second, first) };
        n_other[usize::from(rewarded.class)][usize::from(other.class)] += 1;
    }
    assert!(n_left.abs_diff(6000) < 330, "{n_left}");
    for (class, row) in n_other.iter().enumerate() {
        for (other, &n) in row.iter().enumerate() {
            let expected = if other == class { 0 } else { 1000 };
            assert!(n.abs_diff(expected) < 190, "{n_other:?}");
        }
    }
}

/// With two slots of four and the classes reversed, sample and rewarded template are both shown.
#[test]
fn class_reversal_rewards_the_other_template() {
    let (mut stream, _) = open(Schedule::single(find_task("mts-4way-2shown+class-reversal").unwrap()), 3);
    for trial in 0..500 {
        stream.seek(trial);
        let Trial::Templates { sample, placements, rewarded_slot } = *stream.trial() else {
            panic!("not templates")
        };
        let touchstream_env::stimuli::Picture::Portrait { class, .. } = sample else {
            panic!("not a portrait")
        };
        assert_eq!(placements.as_slice()[usize::from(rewarded_slot)].class, 3 - class.0);
        assert!(placements.as_slice().iter().any(|placement| placement.class == class.0));
    }
}
