//! Performance profiles: the share of a method's runs above each threshold.

use super::aggregate::PooledEstimate;
use super::resampling::{Interval, Resampling, resample};
use super::scores::MethodScores;
use serde::Serialize;

/// A performance profile at one threshold.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ProfilePoint {
    pub threshold: f64,
    /// The share of runs above the threshold (not equal to it); its interval is for this threshold alone.
    pub share: PooledEstimate,
}

/// One point per threshold. Runs have equal weights.
pub fn performance_profile(
    scores: &MethodScores,
    thresholds: &[f64],
    resampling: &Resampling,
) -> Vec<ProfilePoint> {
    let (strata, size) = (scores.strata(), scores.size());
    let shares_of = |strata: &[Vec<f64>]| {
        let mut runs = strata.concat();
        runs.sort_unstable_by(f64::total_cmp);
        let n_above = |&threshold: &f64| runs.len() - runs.partition_point(|&score| score <= threshold);
        thresholds.iter().map(|threshold| n_above(threshold) as f64 / runs.len() as f64).collect::<Vec<f64>>()
    };
    // `[threshold][resample]`; each resample is used for all thresholds.
    let mut resampled_shares = vec![Vec::new(); thresholds.len()];
    if size.fewest_seeds > 1 {
        let mut resampled = strata.to_vec();
        for mut random in resampling.streams() {
            resample(strata, &mut random, &mut resampled);
            shares_of(&resampled)
                .into_iter()
                .zip(&mut resampled_shares)
                .for_each(|(share, all)| all.push(share));
        }
    }
    let rows = thresholds.iter().zip(shares_of(strata)).zip(resampled_shares);
    let rows = rows.map(|((&threshold, value), resampled)| ProfilePoint {
        threshold,
        share: PooledEstimate { value, interval: Interval::of(resampled), size },
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::scores::{Run, Scores};
    use touchstream_env::seed::RunSeed;

    #[test]
    fn shares_fall_from_all_to_none_and_equal_is_not_above() {
        let runs = [("a", 1, 0.25), ("a", 2, 0.5), ("b", 1, 0.5), ("b", 2, 1.0)];
        let scores =
            Scores::new(runs.map(|(task, seed, score)| Run { method: "m", task, seed, score })).unwrap();
        let scores = scores.method("m").unwrap();
        let resampling = Resampling::new(RunSeed(1));
        let profile = performance_profile(scores, &[0.0, 0.25, 0.5, 0.75, 1.0], &resampling);
        let shares: Vec<f64> = profile.iter().map(|row| row.share.value).collect();
        assert_eq!(shares, [1.0, 0.75, 0.25, 0.25, 0.0]);
        // Task `a` has no run above 0.5; a resample of task `b` has two, one or none.
        assert_eq!(profile[2].share.interval, Some(Interval { low: 0.0, high: 0.5 }));
        assert_eq!(profile[0].share.interval, Some(Interval { low: 1.0, high: 1.0 }));
    }
}
