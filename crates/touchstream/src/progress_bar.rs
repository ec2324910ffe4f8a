//! Progress of long work: a bar on a terminal, otherwise lines.

use crate::stdio::warn_user;
use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use std::fmt::Write;
use std::io::{IsTerminal, stderr};
use std::sync::Mutex;
use touchstream_analysis::thousands;

/// On a terminal a bar with rate and remaining time, otherwise a line at the start of each piece of work.
#[derive(Default)]
pub struct WorkBar {
    bar: Mutex<Option<ProgressBar>>,
}

/// The style of a bar; `{rate}` is `10,463/s`.
pub fn style(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    style.with_key("rate", |state: &ProgressState, out: &mut dyn Write| {
        let _ = write!(out, "{}/s", thousands(state.per_sec().round() as u64));
    })
}

impl WorkBar {
    pub fn start(&self, what: &str, total: u64) {
        if !stderr().is_terminal() {
            warn_user!("{what}: {total} ...");
            return;
        }
        let style = style("{msg:24} {bar:40} {human_pos}/{human_len}  {rate}  {eta} left");
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
