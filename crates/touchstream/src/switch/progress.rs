//! How far a study is.

use crate::say::warn_user;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::sync::atomic::{AtomicU64, Ordering};

/// How many runs are done; a line each where nobody watches.
pub struct StudyProgress {
    bar: Option<ProgressBar>,
    what: &'static str,
    n_done: AtomicU64,
    n: usize,
}

impl StudyProgress {
    pub fn new(what: &'static str, n: usize) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let template = "{prefix} {bar:40} {pos}/{len} runs  {eta} left  {msg}";
            let style =
                ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
            let bar = ProgressBar::new(n as u64).with_style(style).with_prefix(what);
            bar.enable_steady_tick(std::time::Duration::from_millis(500));
            bar
        });
        Self { bar, what, n_done: AtomicU64::new(0), n }
    }

    pub fn done(&self, run: &str) {
        let n_done = self.n_done.fetch_add(1, Ordering::Relaxed) + 1;
        match &self.bar {
            Some(bar) => {
                bar.set_message(run.to_owned());
                bar.inc(1);
            }
            None => warn_user!("{} {n_done} of {}: {run}", self.what, self.n),
        }
    }

    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
