//! Panics of the runtime, which become errors: it panics on some damaged models (a `Transpose` that names an axis
//! twice, for one).

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::error::OnnxProblem;

/// How many threads are in the runtime now.
static N_RUNNING: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// Whether this thread is one of them. The runtime has others of its own, which work for it.
    static IS_RUNNING: Cell<bool> = const { Cell::new(false) };
}

/// Whether a panic is one of the runtime's that becomes an error, so that a panic hook need not print it.
pub fn is_caught_panic(panic: &PanicHookInfo<'_>) -> bool {
    let is_in_runtime = || panic.location().is_some_and(|location| location.file().contains("rten"));
    IS_RUNNING.get() || (N_RUNNING.load(Ordering::Relaxed) > 0 && is_in_runtime())
}

/// Runs the runtime. What it was working on when it panics is dropped or, where it is the loaded model, only read.
pub(super) fn without_panics<T>(run: impl FnOnce() -> T) -> Result<T, OnnxProblem> {
    N_RUNNING.fetch_add(1, Ordering::Relaxed);
    let was_running = IS_RUNNING.replace(true);
    let outcome = catch_unwind(AssertUnwindSafe(run));
    IS_RUNNING.set(was_running);
    N_RUNNING.fetch_sub(1, Ordering::Relaxed);
    outcome.map_err(|panic| {
        let said =
            panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
        OnnxProblem::Refused(format!("it gave up: {}", said.unwrap_or("for no reason given")))
    })
}
