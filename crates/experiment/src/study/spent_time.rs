//! The CPU time of this process, by purpose.

use crate::study::process_cpu_time;
use std::time::Duration;

/// CPU time by purpose; the rest is overhead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpentTime {
    /// CPU time of playing, learning, evaluating and writing.
    pub runs: Duration,
    pub encoding: Duration,
    /// Excludes the Python process.
    pub baselines: Duration,
    pub report: Duration,
}

impl SpentTime {
    /// The share of each part, overhead last; they add up to 1.
    fn parts(&self, whole: Duration) -> [(&'static str, Duration); 5] {
        let Self { runs, encoding, baselines, report } = *self;
        // Saturating, because the clocks of threads and of the process are not read at the same instant.
        let rest = whole.saturating_sub(runs + encoding + baselines + report);
        [
            ("runs", runs),
            ("encoding", encoding),
            ("baselines", baselines),
            ("report", report),
            ("overhead", rest),
        ]
    }

    /// `CPU time: 95.1 % runs, 3.0 % encoding, 1.2 % report, 0.7 % overhead`, since the start of the process.
    pub fn words(&self) -> String {
        self.words_of(process_cpu_time())
    }

    fn words_of(&self, whole: Duration) -> String {
        let parts = self.parts(whole);
        let sum: Duration = parts.iter().map(|(_, time)| *time).sum();
        let share = |time: Duration| 100.0 * time.as_secs_f64() / sum.as_secs_f64().max(f64::MIN_POSITIVE);
        // Shares that would be printed as 0.0 are omitted.
        let shares =
            parts.iter().map(|&(what, time)| (what, share(time))).filter(|(_, share)| *share >= 0.05);
        let words: Vec<String> = shares.map(|(what, share)| format!("{share:.1} % {what}")).collect();
        format!("CPU time: {}", words.join(", "))
    }
}

/// Measures the CPU time of this process.
pub fn timed<T>(spent: &mut Duration, work: impl FnOnce() -> T) -> T {
    let start = process_cpu_time();
    let done = work();
    *spent += process_cpu_time().saturating_sub(start);
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_add_up_to_the_whole() {
        let secs = Duration::from_secs;
        let spent = SpentTime { runs: secs(95), encoding: secs(3), report: secs(1), ..SpentTime::default() };
        assert_eq!(spent.parts(secs(100)).iter().map(|(_, time)| *time).sum::<Duration>(), secs(100));
        assert_eq!(
            spent.words_of(secs(100)),
            "CPU time: 95.0 % runs, 3.0 % encoding, 1.0 % report, 1.0 % overhead"
        );
    }

    #[test]
    fn what_is_timed_is_part_of_the_whole() {
        let mut spent = Duration::ZERO;
        let sum = timed(&mut spent, || (0..3_000_000_u64).map(std::hint::black_box).sum::<u64>());
        assert!(sum > 0 && !spent.is_zero() && spent <= process_cpu_time());
    }
}
