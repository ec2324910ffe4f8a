//! Training steps per second, by wall clock and by CPU time.

use anyhow::Result;
use serde::Serialize;
use std::time::Instant;
use touchstream_experiment::study::thread_cpu_time;

/// The fastest of several rounds, each rate on its own.
#[derive(Copy, Clone, Default, Serialize)]
pub struct StepRate {
    pub steps_per_sec: f64,
    /// Per second of CPU time of the measuring thread: other work on the machine disturbs it less.
    pub steps_per_cpu_sec: f64,
}

impl StepRate {
    /// Calls `play`, which returns the number of steps it made, for about `secs` seconds, and keeps what was faster.
    pub fn measure_round(&mut self, secs: f64, mut play: impl FnMut() -> Result<u64>) -> Result<()> {
        let (start, cpu_start) = (Instant::now(), thread_cpu_time());
        let mut n_steps = 0;
        while start.elapsed().as_secs_f64() < secs {
            n_steps += play()?;
        }
        let cpu_secs = (thread_cpu_time() - cpu_start).as_secs_f64();
        self.steps_per_sec = self.steps_per_sec.max(n_steps as f64 / start.elapsed().as_secs_f64());
        self.steps_per_cpu_sec = self.steps_per_cpu_sec.max(n_steps as f64 / cpu_secs);
        Ok(())
    }
}
