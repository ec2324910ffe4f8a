//! Signals that stop the program, and its exit codes.

use anyhow::Result;
use signal_hook::consts::{SIGINT, SIGTERM, SIGUSR1};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use touchstream_experiment::run::Ending;

/// The exit code that shells report after Ctrl-C.
const INTERRUPTED: i32 = 130;

/// A flag that Ctrl-C and the signals of schedulers set. A second Ctrl-C ends the program at once.
pub fn stop_flag() -> Result<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register_conditional_shutdown(SIGINT, INTERRUPTED, Arc::clone(&flag))?;
    for signal in [SIGINT, SIGTERM, SIGUSR1] {
        signal_hook::flag::register(signal, Arc::clone(&flag))?;
    }
    Ok(flag)
}

/// Set when the scheduler announces that the time of this task is nearly up.
pub fn time_is_up_flag() -> Result<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(SIGUSR1, Arc::clone(&flag))?;
    Ok(flag)
}

/// Exits with an error code if a run was interrupted, so that scripts notice.
pub fn leave(ending: Ending) {
    match ending {
        Ending::Finished => {}
        Ending::Interrupted => std::process::exit(INTERRUPTED),
    }
}
