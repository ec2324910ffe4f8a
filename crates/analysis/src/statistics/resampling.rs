//! The bootstrap: runs are drawn from the sample with replacement; the interval contains the middle 95 % of the
//! results.

use serde::Serialize;
use touchstream_env::seed::{RandomStream, RunSeed, StreamName};

/// As many as rliable draws for performance profiles.
pub const N_RESAMPLES: u32 = 2000;

const RESAMPLES: StreamName = StreamName::new("statistics/resamples");

/// The seed and number of resamples. The same value gives the same intervals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resampling {
    pub seed: RunSeed,
    /// Resample `i` is drawn from the `i`-th random stream with this name.
    pub stream: StreamName,
    pub n_resamples: u32,
    /// Applies to intervals of means; all other intervals are as in rliable.
    pub width: Width,
}

/// The width of intervals of means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// Deviations of resampled means are multiplied by [`widening()`](super::widening()), so that 95 % intervals of few
    /// runs contain the true mean in 95 % of studies.
    SmallSample,
    /// Percentiles of the resampled means, as in rliable.
    Percentile,
}

impl Resampling {
    /// [`N_RESAMPLES`] from the stream of this crate, widened for small samples.
    pub fn new(seed: RunSeed) -> Self {
        Self { seed, stream: RESAMPLES, n_resamples: N_RESAMPLES, width: Width::SmallSample }
    }

    /// The same resamples with rliable's intervals.
    pub fn as_rliable(self) -> Self {
        Self { width: Width::Percentile, ..self }
    }

    pub(crate) fn streams(&self) -> impl Iterator<Item = RandomStream> {
        (0..self.n_resamples).map(|idx| self.seed.stream(self.stream, u64::from(idx)))
    }
}

/// The ends of a 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    pub low: f64,
    pub high: f64,
}

impl Interval {
    /// The middle 95 % of resampled values; `None` if there are none. Each end is the resampled value with the nearest
    /// rank (NumPy and rliable interpolate between two values).
    pub(crate) fn of(mut values: Vec<f64>) -> Option<Self> {
        values.sort_unstable_by(f64::total_cmp);
        let last_idx = values.len().checked_sub(1)?;
        let at = |share: f64| values[(share * last_idx as f64).round() as usize];
        Some(Self { low: at(0.025), high: at(0.975) })
    }
}

/// Draws each task's scores with replacement. `resampled` has the shape of `strata`; no stratum is empty.
pub(crate) fn resample(strata: &[Vec<f64>], random: &mut RandomStream, resampled: &mut [Vec<f64>]) {
    for (scores, drawn) in strata.iter().zip(resampled) {
        drawn.iter_mut().for_each(|score| *score = *random.pick(scores));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_the_values_of_the_nearest_rank() {
        #[track_caller]
        fn check(n: u32, ends: Option<(f64, f64)>) {
            let found = Interval::of((0..n).rev().map(f64::from).collect());
            assert_eq!(found, ends.map(|(low, high)| Interval { low, high }), "{n} values");
        }
        check(0, None);
        check(1, Some((0.0, 0.0)));
        check(41, Some((1.0, 39.0)));
        check(2000, Some((50.0, 1949.0)));
        check(2001, Some((50.0, 1950.0)));
    }

    #[test]
    fn tasks_keep_their_scores_and_their_number_of_seeds() {
        let strata = [vec![1.0, 2.0, 3.0], vec![10.0], vec![20.0, 30.0]];
        let mut resampled = strata.to_vec();
        let mut n_changed = 0;
        for idx in 0..100 {
            resample(&strata, &mut RunSeed(1).stream(RESAMPLES, idx), &mut resampled);
            for (drawn, scores) in resampled.iter().zip(&strata) {
                assert_eq!(drawn.len(), scores.len());
                assert!(drawn.iter().all(|score| scores.contains(score)));
            }
            n_changed += usize::from(resampled != strata);
        }
        assert!(n_changed > 90, "{n_changed}");
    }
}
