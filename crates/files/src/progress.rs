//! Progress of long operations.

/// Receives the progress of long operations; called from several threads at once.
pub trait Progress: Sync {
    /// An operation of `total` equal steps begins, for instance "checking images".
    fn start(&self, what: &str, total: u64);
    /// `n_done` more steps are done.
    fn advance(&self, n_done: u64);
    /// The operation that was started last is finished.
    fn finish(&self);
}

/// Ignores progress.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoProgress;

impl Progress for NoProgress {
    fn start(&self, _what: &str, _total: u64) {}
    fn advance(&self, _n_done: u64) {}
    fn finish(&self) {}
}
