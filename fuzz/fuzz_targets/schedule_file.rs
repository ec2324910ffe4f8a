//! Schedule files: any text is a valid schedule, or an error that names a line.
#![no_main]

use libfuzzer_sys::fuzz_target;
use touchstream_env::schedule::parse_schedule;
use touchstream_env::seed::RunSeed;
use touchstream_env::task::find_task;

fuzz_target!(|text: &str| {
    match parse_schedule(text, |id| find_task(id).map_err(|error| error.to_string())) {
        Ok(schedule) => {
            for ordinal in 0..2 * schedule.segments().len() as u64 {
                assert!(schedule.segment_idx(ordinal) < schedule.segments().len());
                assert_ne!(schedule.n_trials(ordinal, RunSeed(0)), Some(0));
            }
        }
        Err(error) => assert!((1..=text.lines().count() + 1).contains(&error.line), "{error}"),
    }
});
