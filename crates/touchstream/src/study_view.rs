//! A study on the terminal: runs done, running and failed, steps a second, time left.

use crate::say::warn_user;
use indicatif::{ProgressBar, ProgressStyle};
use std::collections::BTreeMap;
use std::io::{IsTerminal, stderr};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use touchstream_experiment::Event;
use touchstream_experiment::study::{AttemptResult, Cell, JobCounts};

/// A bar on a terminal; elsewhere a line a run, and one now and then.
pub struct StudyView {
    bar: Option<ProgressBar>,
    /// When a line was last said.
    said: Mutex<Instant>,
    n_steps: AtomicU64,
    /// Runs of this process that cannot be learned.
    n_failed: AtomicUsize,
    began: Instant,
    /// Seconds of a core that all runs take, as they are estimated.
    whole_cost: f64,
    learned: Mutex<Learned>,
    last: Mutex<JobCounts>,
    n_threads: usize,
}

/// What was learned here, in seconds of a core as they are estimated.
#[derive(Default)]
struct Learned {
    /// Whatever became of it.
    cost: f64,
    /// Of each run that is under way.
    under_way: BTreeMap<String, f64>,
}

/// How long nothing is said where there is no bar.
const SILENCE: Duration = Duration::from_secs(30);

impl StudyView {
    pub fn new(cells: &[&Cell], n_threads: usize) -> Self {
        let whole_cost = cells.iter().map(|cell| cell.cost).sum();
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
            said: Mutex::new(began),
            n_steps: AtomicU64::new(0),
            n_failed: AtomicUsize::new(0),
            began,
            whole_cost,
            learned: Mutex::default(),
            last: Mutex::default(),
            n_threads,
        }
    }

    /// Shows what happened.
    pub fn on(&self, event: Event<'_>) {
        match event {
            Event::StudyRunAdvanced { cell, n_steps } => self.add_steps(cell, n_steps),
            Event::StudyRunStarted { name } => {
                if let Ok(mut learned) = self.learned.lock() {
                    learned.under_way.insert(name.to_owned(), 0.0);
                }
            }
            Event::StudyRunDiverged { .. } => _ = self.n_failed.fetch_add(1, Ordering::Relaxed),
            Event::StudyRunEnded { name, outcome } => {
                if let Ok(mut learned) = self.learned.lock() {
                    learned.under_way.remove(name);
                }
                if let AttemptResult::Failed(_) = outcome {
                    self.say_line(&event.to_string());
                }
            }
            Event::StudyAdvanced(tally) => self.tallied(tally),
            Event::StudyEnded => self.bar.iter().for_each(ProgressBar::finish_and_clear),
            event => self.say_line(&event.to_string()),
        }
    }

    /// Counts steps of a run that were learned.
    fn add_steps(&self, cell: &Cell, n_steps: u64) {
        self.n_steps.fetch_add(n_steps, Ordering::Relaxed);
        let cost = cell.cost * n_steps as f64 / cell.n_steps.max(1) as f64;
        if let Ok(mut learned) = self.learned.lock() {
            learned.cost += cost;
            *learned.under_way.entry(cell.name.clone()).or_default() += cost;
        }
        self.show();
    }

    fn say_line(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| warn_user!("{line}")),
            None => warn_user!("{line}"),
        }
    }

    /// On the bar; where there is none, if nothing was said for long.
    fn show(&self) {
        let (Ok(tally), Ok(said)) = (self.last.lock(), self.said.lock()) else { return };
        match &self.bar {
            Some(bar) => {
                bar.set_position(tally.n_complete as u64);
                bar.set_message(self.words(&tally));
            }
            None if said.elapsed() >= SILENCE => {
                drop(said);
                self.say(&tally);
            }
            None => {}
        }
    }

    fn say(&self, tally: &JobCounts) {
        warn_user!("study: {} of {} runs  {}", tally.n_complete, tally.n_jobs, self.words(tally));
        if let Ok(mut said) = self.said.lock() {
            *said = Instant::now();
        }
    }

    fn words(&self, tally: &JobCounts) -> String {
        let rate = self.n_steps.load(Ordering::Relaxed) as f64 / self.began.elapsed().as_secs_f64().max(0.1);
        let n_running = self.learned.lock().map_or(0, |learned| learned.under_way.len());
        let mut words = format!("{n_running} running");
        if tally.n_elsewhere > 0 {
            words += &format!(", {} elsewhere", tally.n_elsewhere);
        }
        let n_failed = tally.given_up.len() + self.n_failed.load(Ordering::Relaxed);
        if n_failed > 0 {
            words += &format!(", {n_failed} failed");
        }
        words += &format!("  {} steps/s", thousands(rate as u64));
        if let Some(left) = self.time_left(tally) {
            words += &format!("  about {} left", spoken(left));
        }
        words
    }

    /// What is left by estimated cost, at the pace of what was learned here.
    fn time_left(&self, tally: &JobCounts) -> Option<Duration> {
        let learned = self.learned.lock().ok()?;
        let under_way: f64 = learned.under_way.values().sum();
        let share_left = 1.0 - tally.n_complete as f64 / tally.n_jobs.max(1) as f64;
        // Runs that others have done cost nothing here; on average a run is a run.
        let left = (self.whole_cost * share_left - under_way).max(0.0);
        let pace = match learned.cost > 0.0 {
            true => learned.cost / self.began.elapsed().as_secs_f64(),
            false => self.n_threads as f64,
        };
        (pace > 0.0).then(|| Duration::from_secs_f64((left / pace).min(1e9)))
    }

    fn tallied(&self, tally: &JobCounts) {
        let Ok(mut last) = self.last.lock() else { return };
        let is_news = tally.n_complete > last.n_complete || last.n_jobs == 0;
        *last = tally.clone();
        drop(last);
        match &self.bar {
            Some(_) => self.show(),
            None if is_news => self.say(tally),
            None => {}
        }
    }
}

/// `12,345`.
fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut words = String::new();
    for (idx, digit) in digits.chars().enumerate() {
        if idx > 0 && (digits.len() - idx).is_multiple_of(3) {
            words.push(',');
        }
        words.push(digit);
    }
    words
}

/// `3 h 20 min`, `5 min`, `40 s`.
fn spoken(time: Duration) -> String {
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
    fn numbers_and_times_are_said_as_people_say_them() {
        assert_eq!([7, 1234, 1_234_567].map(thousands), ["7", "1,234", "1,234,567"]);
        let said = |secs| spoken(Duration::from_secs(secs));
        assert_eq!([40, 150, 12_000].map(said), ["40 s", "3 min", "3 h 20 min"]);
    }
}
