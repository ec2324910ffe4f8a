//! Word of how far a long opening has come, for whoever wants to show it.

/// Hears of long work. Called from several threads at once.
pub trait Progress: Sync {
    /// Work of `total` equal pieces begins, for instance "checking images".
    fn start(&self, what: &str, total: u64);
    /// Some more pieces are done.
    fn advance(&self, n_done: u64);
    /// The work that was started last is over.
    fn finish(&self);
}

/// Listens to nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoProgress;

impl Progress for NoProgress {
    fn start(&self, _what: &str, _total: u64) {}
    fn advance(&self, _n_done: u64) {}
    fn finish(&self) {}
}
