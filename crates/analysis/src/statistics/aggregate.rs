//! Summaries over all runs of a method: the mean, and the interquartile mean.

use super::estimate::{Relation, write_estimate};
use super::resampling::{Interval, Resampling, Width, resample};
use super::scores::MethodScores;
use super::size::SampleSize;
use super::widening::widenings;
use serde::Serialize;
use std::fmt;

/// A summary over runs and tasks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PooledEstimate {
    pub value: f64,
    /// 95 % interval by resampling the seeds of each task; for a mean, widened for few seeds. `None` if a task has one
    /// seed, because its spread is unknown.
    pub interval: Option<Interval>,
    #[serde(flatten)]
    pub size: SampleSize,
}

impl PooledEstimate {
    /// `statistic` is computed from scores `[task][run]`.
    pub(crate) fn of(
        scores: &MethodScores,
        resampling: &Resampling,
        statistic: impl Fn(&[Vec<f64>]) -> f64,
    ) -> Self {
        let (strata, size) = (scores.strata(), scores.size());
        let mut resampled = strata.to_vec();
        let values = resampling.streams().filter(|_| size.fewest_seeds > 1).map(|mut random| {
            resample(strata, &mut random, &mut resampled);
            statistic(&resampled)
        });
        let interval = Interval::of(values.collect());
        Self { value: statistic(strata), interval, size }
    }

    pub(crate) fn compare_to(&self, level: f64) -> Relation {
        Relation::of(self.interval, level)
    }
}

impl fmt::Display for PooledEstimate {
    /// `0.412 (0.398 to 0.426)`; with `{:+}`, signed numbers.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_estimate(f, self.value, self.interval)
    }
}

/// The mean over tasks of the mean over a task's seeds: tasks have equal weights, regardless of their numbers of seeds.
/// `resampling` determines the width of the interval.
pub fn mean(scores: &MethodScores, resampling: &Resampling) -> PooledEstimate {
    let mean_of = |numbers: &[f64]| numbers.iter().sum::<f64>() / numbers.len() as f64;
    let strata = scores.strata();
    let means: Vec<f64> = strata.iter().map(|scores| mean_of(scores)).collect();
    let widenings = match resampling.width {
        Width::SmallSample if scores.size().fewest_seeds > 1 => widenings(strata),
        Width::SmallSample | Width::Percentile => vec![1.0; strata.len()],
    };
    PooledEstimate::of(scores, resampling, |resampled| {
        let of_task = |((scores, mean), widening): ((&Vec<f64>, &f64), &f64)| {
            mean + widening * (mean_of(scores) - mean)
        };
        resampled.iter().zip(&means).zip(&widenings).map(of_task).sum::<f64>() / strata.len() as f64
    })
}

/// The mean of the middle half of all runs of all tasks: outliers have no effect, and it uses more runs than the
/// median. Like SciPy's `trim_mean` it excludes `n / 4` runs (rounded down) at each end. Runs have equal weights, so
/// tasks with more seeds have more weight.
pub fn interquartile_mean(scores: &MethodScores, resampling: &Resampling) -> PooledEstimate {
    PooledEstimate::of(scores, resampling, |strata| {
        let mut runs = strata.concat();
        runs.sort_unstable_by(f64::total_cmp);
        let n_cut = runs.len() / 4;
        let middle = &runs[n_cut..runs.len() - n_cut];
        middle.iter().sum::<f64>() / middle.len() as f64
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::scores::{Run, Scores};
    use touchstream_env::seed::RunSeed;

    fn scores(tasks: &[&[f64]]) -> Scores {
        let names = ["a", "b", "c"];
        let runs = names.iter().zip(tasks).flat_map(|(&task, scores)| {
            scores.iter().zip(0..).map(move |(&score, seed)| Run { method: "m", task, seed, score })
        });
        Scores::new(runs).unwrap()
    }

    #[test]
    fn points_are_those_of_the_definitions() {
        #[track_caller]
        fn check(tasks: &[&[f64]], mean_wanted: f64, iqm_wanted: f64) {
            let (scores, resampling) = (scores(tasks), Resampling::new(RunSeed(1)));
            let scores = scores.method("m").unwrap();
            let (mean, iqm) = (mean(scores, &resampling), interquartile_mean(scores, &resampling));
            assert!((mean.value - mean_wanted).abs() < 1e-12, "mean {}", mean.value);
            assert!((iqm.value - iqm_wanted).abs() < 1e-12, "interquartile mean {}", iqm.value);
        }
        check(&[&[0.5]], 0.5, 0.5);
        check(&[&[1.0, 2.0, 9.0]], 4.0, 4.0);
        check(&[&[1.0, 2.0, 4.0, 90.0]], 24.25, 3.0);
        // Of 7 runs, one is excluded at each end.
        check(&[&[7.0, 1.0, 2.0], &[3.0, 4.0, 5.0, 6.0]], (10.0 / 3.0 + 4.5) / 2.0, 4.0);
    }

    #[test]
    fn one_seed_of_a_task_or_no_resamples_give_no_interval() {
        let mut resampling = Resampling::new(RunSeed(1));
        let (one, two) = (scores(&[&[1.0, 2.0], &[3.0]]), scores(&[&[1.0, 2.0], &[3.0, 4.0]]));
        assert_eq!(mean(one.method("m").unwrap(), &resampling).interval, None);
        assert!(mean(two.method("m").unwrap(), &resampling).interval.is_some());
        resampling.n_resamples = 0;
        assert_eq!(mean(two.method("m").unwrap(), &resampling).interval, None);
    }
}
