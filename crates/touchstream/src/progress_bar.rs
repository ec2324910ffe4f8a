//! Progress of long work: a bar on a terminal, otherwise lines.

use crate::stdio::warn_user;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{IsTerminal, stderr};
use std::sync::Mutex;

/// On a terminal a bar with rate and remaining time, otherwise a line at the start of each piece of work.
#[derive(Default)]
pub struct WorkBar {
    bar: Mutex<Option<ProgressBar>>,
}

impl WorkBar {
    pub fn start(&self, what: &str, total: u64) {
        if !stderr().is_terminal() {
            warn_user!("{what}: {total} ...");
            return;
        }
        let style =
            ProgressStyle::with_template("{msg:24} {bar:40} {human_pos}/{human_len}  {per_sec}  {eta} left")
                .unwrap_or_else(|_| ProgressStyle::default_bar());
        let bar = ProgressBar::new(total).with_style(style).with_message(what.to_owned());
        if let Ok(mut current) = self.bar.lock() {
            *current = Some(bar);
        }
    }

    pub fn advance(&self, n_done: u64) {
        if let Ok(current) = self.bar.lock()
            && let Some(bar) = current.as_ref()
        {
            bar.inc(n_done);
        }
    }

    pub fn finish(&self) {
        if let Ok(mut current) = self.bar.lock()
            && let Some(bar) = current.take()
        {
            bar.finish_and_clear();
        }
    }
}
