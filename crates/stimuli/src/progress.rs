//! Word of how far a long opening has come, for whoever wants to show it.

use std::sync::{Mutex, PoisonError};

/// Hears of long work. Called from several threads at once.
pub trait Progress: Sync {
    /// Work of `total` equal pieces begins, for instance "checking images".
    fn start(&self, what: &str, total: u64);
    /// Some more pieces are done.
    fn advance(&self, n_done: u64);
    /// The work that was started last is over.
    fn finish(&self);
    /// Something that stops nothing and that a reader of the manifest should know, as a sentence without a full
    /// stop. [`crate::open()`] gathers these into [`crate::Manifest::notes`].
    fn note(&self, _sentence: String) {}
}

/// Listens to nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoProgress;

impl Progress for NoProgress {
    fn start(&self, _what: &str, _total: u64) {}
    fn advance(&self, _n_done: u64) {}
    fn finish(&self) {}
}

/// Keeps the notes and passes everything else on.
pub(crate) struct NoteTaker<'a> {
    listener: &'a dyn Progress,
    notes: Mutex<Vec<String>>,
}

impl<'a> NoteTaker<'a> {
    pub(crate) fn new(listener: &'a dyn Progress) -> Self {
        Self { listener, notes: Mutex::default() }
    }

    pub(crate) fn into_notes(self) -> Vec<String> {
        self.notes.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Progress for NoteTaker<'_> {
    fn start(&self, what: &str, total: u64) {
        self.listener.start(what, total);
    }

    fn advance(&self, n_done: u64) {
        self.listener.advance(n_done);
    }

    fn finish(&self) {
        self.listener.finish();
    }

    fn note(&self, sentence: String) {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).push(sentence);
    }
}
