//! Streams with switches: cues, segment lengths, snapshots, seeking.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use touchstream_env::plain_stimuli::PlainStimuli;
use touchstream_env::schedule::{Length, Repeats, Schedule, Segment, find_schedule};
use touchstream_env::seed::RunSeed;
use touchstream_env::stimuli::Split;
use touchstream_env::stream::{CueReader, RestoreError, Stream};
use touchstream_env::task::{find_task, language::parse_task};
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
        stream.agent_view().touch(touch());
    }
}

#[test]
fn trials_are_always_completed() {
    let segments =
        vec![segment("mts-2way-stationary", Length::Steps(5)), segment("sr-2way", Length::Steps(3))];
    let (mut stream, cues) = open(Schedule::new("x", segments, Repeats::Yes).unwrap(), 1);
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
        Schedule::new("x", segments, Repeats::Yes).unwrap()
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
fn seeking_across_switches_equals_playing() {
    let length = Length::Between { min: 3, max: 9 };
    let segments =
        vec![segment("sr-2way", length), segment("mts-4way-2shown", length), segment("localization", length)];
    let (mut played, _) = open(Schedule::new("x", segments, Repeats::Yes).unwrap(), 5);
    let mut sought = played.clone();
    for trial in 0..200 {
        while played.trial_index() < trial {
            played.touch(touch());
        }
        sought.seek(trial).unwrap();
        assert_eq!(sought.snapshot(), played.snapshot(), "trial {trial}");
        assert_eq!(sought.trial(), played.trial(), "trial {trial}");
    }
}

#[test]
fn snapshots_of_other_streams_and_damaged_ones_are_rejected() {
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
        ("n_steps = 0", "n_steps = 1"),
        ("trial_index = 0", "trial_index = 9223372036854775807"),
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
        stream.seek(trial).unwrap();
        let Trial::Templates { placements, rewarded_slot, .. } = *stream.trial() else {
            panic!("not templates")
        };
        n_left += u32::from(rewarded_slot == 0);
        let [first, second] = placements.as_slice() else { panic!("not two") };
        let (rewarded, other) = if rewarded_slot == 0 { (first, second) } else { (second, first) };
        n_other[rewarded.class.get()][other.class.get()] += 1;
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
        stream.seek(trial).unwrap();
        let Trial::Templates { sample, placements, rewarded_slot } = *stream.trial() else {
            panic!("not templates")
        };
        let touchstream_env::stimuli::ImageId::Portrait { class, .. } = sample else {
            panic!("not a portrait")
        };
        assert_eq!(placements.as_slice()[usize::from(rewarded_slot)].class.0, 3 - class.0);
        assert!(placements.as_slice().iter().any(|placement| placement.class == class));
    }
}

/// A base learned once, then switched to two other tasks: the screens are those of one long schedule.
#[test]
fn a_stream_continues_with_another_schedule_as_if_it_had_been_planned() {
    let (planned, cues) = open(find_schedule("switch-4", 10).unwrap(), 1);
    let (mut base, _) = open(Schedule::single(find_task("sr-2way").unwrap()), 1);
    for _ in 0..10 {
        base.touch(touch());
    }
    let before = base.snapshot();
    let next = |id: &str| base.continue_with(Schedule::single(find_task(id).unwrap())).unwrap();
    let (mut switched, other) = (next("mts-2way-stationary"), next("sr-2way+rotation"));
    let mut planned_later = planned.clone();
    planned_later.seek(10).unwrap();
    assert_eq!(cues.read(&switched).map(|cue| cue.n_switches), Some(1));
    assert_eq!(switched.trial(), planned_later.trial());
    for _ in 0..30 {
        assert_eq!(switched.touch(touch()), planned_later.touch(touch()));
        assert_eq!(switched.recipe(), planned_later.recipe());
        assert_eq!(switched.n_steps(), planned_later.n_steps());
        assert_eq!(cues.read(&switched), None);
    }
    assert_eq!(switched.seek(9).unwrap_err().trial_index, 9);
    let snapshot = switched.snapshot();
    switched.touch(touch());
    switched.restore(&snapshot).unwrap();
    assert_eq!(switched.snapshot(), snapshot);
    assert_eq!(base.snapshot(), before);
    assert_eq!(other.bound_task().task().id(), "sr-2way+rotation");
}

#[test]
fn snapshots_depend_on_rules_and_not_on_names() {
    let text = find_task("sr-2way").unwrap().to_toml();
    let renamed = text.replace("sr-2way", "mine").replace("2-way", "two-way");
    let changed = text.replace("width = 112", "width = 111");
    let open_text = |text: &str| open(Schedule::single(parse_task(text).unwrap()), 1).0;
    let snapshot = open_text(&text).snapshot();
    assert_eq!(open_text(&renamed).restore(&snapshot), Ok(()));
    assert_eq!(open_text(&changed).restore(&snapshot), Err(RestoreError::Foreign));
}
