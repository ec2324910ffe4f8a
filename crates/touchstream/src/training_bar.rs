//! Progress of training: steps per second, rewards, time left.

use crate::progress_bar::style;
use crate::stdio::warn_user;
use indicatif::ProgressBar;
use std::cell::Cell;
use std::io::{IsTerminal, stderr};
use touchstream_env::task::Task;
use touchstream_experiment::run::Moment;

/// On a terminal a bar, otherwise a line per tenth of the run.
pub struct TrainingBar {
    bar: Option<ProgressBar>,
    /// One per task of the stream.
    titles: Vec<String>,
    n_steps: u64,
    tenths_printed: Cell<u64>,
}

impl TrainingBar {
    pub fn new(tasks: &[Task], module: &str, done: u64, n_steps: u64) -> Self {
        let titles: Vec<String> = tasks.iter().map(|task| format!("{module} on {}", task.id())).collect();
        let bar = stderr().is_terminal().then(|| {
            let style = style("{msg}\n{bar:40} {human_pos}/{human_len} steps  {rate}  {eta} left");
            let bar = ProgressBar::new(n_steps)
                .with_style(style)
                .with_message(titles.first().cloned().unwrap_or_default());
            bar.set_position(done);
            bar.reset_eta();
            bar
        });
        Self { bar, titles, n_steps, tenths_printed: Cell::new(done * 10 / n_steps.max(1)) }
    }

    pub fn show(&self, moment: &Moment) {
        let number = |reward: Option<f64>| reward.map_or_else(|| "-".into(), |reward| format!("{reward:.3}"));
        let rewards = format!(
            "recent reward {}  validation {}",
            number(moment.recent_reward),
            number(moment.validation_reward)
        );
        let title = self.titles.get(moment.lesson).map_or("", String::as_str);
        if let Some(bar) = &self.bar {
            bar.set_message(format!("{title}  {rewards}"));
            bar.set_position(moment.n_steps.min(self.n_steps));
            return;
        }
        let tenths = moment.n_steps * 10 / self.n_steps.max(1);
        if tenths > self.tenths_printed.get() {
            self.tenths_printed.set(tenths);
            warn_user!("{title}: step {} of {}  {rewards}", moment.n_steps, self.n_steps);
        }
    }

    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
