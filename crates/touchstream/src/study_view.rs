//! Progress of a study: complete, running and failed runs, steps per second, time left.

use crate::stdio::warn_user;
use indicatif::{ProgressBar, ProgressStyle};
use std::collections::BTreeMap;
use std::io::{IsTerminal, stderr};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use touchstream_analysis::thousands;
use touchstream_experiment::Event;
use touchstream_experiment::study::{AttemptResult, Cell, JobCounts};

/// On a terminal a bar; otherwise a line per run, and one every 30 seconds.
pub struct StudyView {
    bar: Option<ProgressBar>,
    last_line: Mutex<Instant>,
    n_steps: AtomicU64,
    /// Diverged runs of this process.
    n_failed: AtomicUsize,
    began: Instant,
    /// Estimated CPU seconds of all runs.
    total_cost: f64,
    learned: Mutex<Learned>,
    last: Mutex<JobCounts>,
    n_threads: usize,
}

/// Progress of this process, in estimated CPU seconds.
#[derive(Default)]
struct Learned {
    /// Of all runs, interrupted ones too.
    cost: f64,
    /// Cost so far, by name of the run.
    running: BTreeMap<String, f64>,
}

/// Without a bar, a line at least this often.
const LINE_EVERY: Duration = Duration::from_secs(30);

impl StudyView {
    pub fn new(cells: &[&Cell], n_threads: usize) -> Self {
        let total_cost = cells.iter().map(|cell| cell.cost).sum();
        let bar = stderr().is_terminal().then(|| {
            let template = "{prefix} {bar:30} {pos}/{len} runs  {msg}";
            let style =
                ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
            let bar = ProgressBar::new(cells.len() as u64).with_style(style).with_prefix("study");
            bar.enable_steady_tick(Duration::from_millis(500));
            bar
        });
        let began = Instant::now();
        Self {
            bar,
            last_line: Mutex::new(began),
            n_steps: AtomicU64::new(0),
            n_failed: AtomicUsize::new(0),
            began,
            total_cost,
            learned: Mutex::default(),
            last: Mutex::default(),
            n_threads,
        }
    }

    pub fn on(&self, event: Event<'_>) {
        match event {
            Event::StudyRunAdvanced { cell, n_steps } => self.add_steps(cell, n_steps),
            Event::StudyRunStarted { name } => {
                if let Ok(mut learned) = self.learned.lock() {
                    learned.running.insert(name.to_owned(), 0.0);
                }
            }
            Event::StudyRunDiverged { .. } => _ = self.n_failed.fetch_add(1, Ordering::Relaxed),
            Event::StudyRunEnded { name, outcome } => {
                if let Ok(mut learned) = self.learned.lock() {
                    learned.running.remove(name);
                }
                if let AttemptResult::Failed(_) = outcome {
                    self.print_line(&event.to_string());
                }
            }
            Event::StudyAdvanced(counts) => self.show_counts(counts),
            Event::StudyEnded => self.bar.iter().for_each(ProgressBar::finish_and_clear),
            event => self.print_line(&event.to_string()),
        }
    }

    fn add_steps(&self, cell: &Cell, n_steps: u64) {
        self.n_steps.fetch_add(n_steps, Ordering::Relaxed);
        let cost = cell.cost * n_steps as f64 / cell.n_steps.max(1) as f64;
        if let Ok(mut learned) = self.learned.lock() {
            learned.cost += cost;
            *learned.running.entry(cell.name.clone()).or_default() += cost;
        }
        self.show();
    }

    fn print_line(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| warn_user!("{line}")),
            None => warn_user!("{line}"),
        }
    }

    fn show(&self) {
        let (Ok(counts), Ok(last_line)) = (self.last.lock(), self.last_line.lock()) else { return };
        match &self.bar {
            Some(bar) => {
                bar.set_position(counts.n_complete as u64);
                bar.set_message(self.message(&counts));
            }
            None if last_line.elapsed() >= LINE_EVERY => {
                drop(last_line);
                self.print_counts(&counts);
            }
            None => {}
        }
    }

    fn print_counts(&self, counts: &JobCounts) {
        warn_user!("study: {} of {} runs  {}", counts.n_complete, counts.n_jobs, self.message(counts));
        if let Ok(mut last_line) = self.last_line.lock() {
            *last_line = Instant::now();
        }
    }

    fn message(&self, counts: &JobCounts) -> String {
        let rate = self.n_steps.load(Ordering::Relaxed) as f64 / self.began.elapsed().as_secs_f64().max(0.1);
        let n_running = self.learned.lock().map_or(0, |learned| learned.running.len());
        let mut text = format!("{n_running} running");
        if counts.n_elsewhere > 0 {
            text += &format!(", {} elsewhere", counts.n_elsewhere);
        }
        let n_failed = counts.given_up.len() + self.n_failed.load(Ordering::Relaxed);
        if n_failed > 0 {
            text += &format!(", {n_failed} failed");
        }
        text += &format!("  {} steps/s", thousands(rate as u64));
        if let Some(left) = self.time_left(counts) {
            text += &format!("  about {} left", format_duration(left));
        }
        text
    }

    /// The remaining estimated cost, at the pace of this process so far.
    fn time_left(&self, counts: &JobCounts) -> Option<Duration> {
        let learned = self.learned.lock().ok()?;
        let running: f64 = learned.running.values().sum();
        let share_left = 1.0 - counts.n_complete as f64 / counts.n_jobs.max(1) as f64;
        // Which runs other processes completed is unknown here; all are assumed to cost the same.
        let left = (self.total_cost * share_left - running).max(0.0);
        let pace = match learned.cost > 0.0 {
            true => learned.cost / self.began.elapsed().as_secs_f64(),
            false => self.n_threads as f64,
        };
        (pace > 0.0).then(|| Duration::from_secs_f64((left / pace).min(1e9)))
    }

    fn show_counts(&self, counts: &JobCounts) {
        let Ok(mut last) = self.last.lock() else { return };
        let is_news = counts.n_complete > last.n_complete || last.n_jobs == 0;
        *last = counts.clone();
        drop(last);
        match &self.bar {
            Some(_) => self.show(),
            None if is_news => self.print_counts(counts),
            None => {}
        }
    }
}

/// `3 h 20 min`, `5 min`, `40 s`.
fn format_duration(time: Duration) -> String {
    match time.as_secs() {
        secs @ 0..=99 => format!("{secs} s"),
        secs @ 100..=5_999 => format!("{} min", secs.div_ceil(60)),
        secs => format!("{} h {} min", secs / 3600, secs % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_readable() {
        let formatted = |secs| format_duration(Duration::from_secs(secs));
        assert_eq!([40, 150, 12_000].map(formatted), ["40 s", "3 min", "3 h 20 min"]);
    }
}
