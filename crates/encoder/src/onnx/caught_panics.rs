//! Turns panics of the ONNX runtime into errors: it panics on some damaged models, for example on a `Transpose` that
//! names an axis twice.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::error::OnnxProblem;

/// Number of threads that are executing the runtime.
static N_RUNNING: AtomicUsize = AtomicUsize::new(0);

/// How the runtime names its threads.
const RUNTIME_THREAD: &str = "rten-";

thread_local! {
    /// Whether this thread is one of them. The runtime also has worker threads of its own.
    static IS_RUNNING: Cell<bool> = const { Cell::new(false) };
}

/// Whether a panic comes from the runtime and becomes an error, so that a panic hook need not print it.
pub fn is_caught_panic(panic: &PanicHookInfo<'_>) -> bool {
    let is_in_runtime = || {
        panic.location().is_some_and(|location| location.file().contains("rten"))
            || thread::current().name().is_some_and(|name| name.starts_with(RUNTIME_THREAD))
    };
    IS_RUNNING.get() || (N_RUNNING.load(Ordering::Relaxed) > 0 && is_in_runtime())
}

/// Runs the runtime. After a panic, its working data is dropped; the loaded model is only read, so it stays valid.
pub(super) fn without_panics<T>(run: impl FnOnce() -> T) -> Result<T, OnnxProblem> {
    N_RUNNING.fetch_add(1, Ordering::Relaxed);
    let was_running = IS_RUNNING.replace(true);
    let result = catch_unwind(AssertUnwindSafe(run));
    IS_RUNNING.set(was_running);
    N_RUNNING.fetch_sub(1, Ordering::Relaxed);
    result.map_err(|panic| {
        let message =
            panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
        OnnxProblem::Refused(format!("it failed with: {}", message.unwrap_or("no message")))
    })
}
