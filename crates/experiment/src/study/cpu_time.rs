//! CPU time of the thread and of the process.

use rustix::param::clock_ticks_per_second;
use rustix::time::{ClockId, clock_gettime};
use std::io;
use std::time::Duration;

pub fn thread_cpu_time() -> Duration {
    duration_of(ClockId::ThreadCPUTime)
}

pub fn process_cpu_time() -> Duration {
    duration_of(ClockId::ProcessCPUTime)
}

/// CPU time of child processes that have ended and been waited for, and of their children. Linux only, in steps of 10
/// ms.
pub fn children_cpu_time() -> io::Result<Duration> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    // The program's name, in parentheses, may contain spaces, so fields are counted after it. `cutime` and `cstime` are
    // fields 16 and 17.
    let fields = stat.rsplit(')').next().unwrap_or_default();
    let ticks: Option<u64> =
        fields.split_whitespace().skip(13).take(2).map(|field| field.parse::<u64>().ok()).sum();
    let ticks = ticks.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "/proc/self/stat"))?;
    Ok(Duration::from_secs_f64(ticks as f64 / clock_ticks_per_second() as f64))
}

fn duration_of(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}
