//! Task files: any text is a task or an error, and writing a task gives a text that parses back to it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use touchstream_env::task::language::parse_task;

fuzz_target!(|text: &str| {
    if let Ok(task) = parse_task(text) {
        let printed = task.to_toml();
        assert_eq!(parse_task(&printed).as_ref(), Ok(&task), "{printed}");
        let _ = task.warnings();
        let _ = task.geometric_rewards();
    }
});
