//! Time that cores spent, to tell a study's runs from what is around them.

use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

pub fn thread_cpu_time() -> Duration {
    duration_of(ClockId::ThreadCPUTime)
}

pub fn process_cpu_time() -> Duration {
    duration_of(ClockId::ProcessCPUTime)
}

fn duration_of(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}
