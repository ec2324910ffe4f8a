//! The probability that a run of one method is better than a run of another.

use super::resampling::{Interval, Resampling, resample};
use super::scores::MethodScores;
use super::size::SampleSize;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Improvement {
    /// 0.5 if the methods are equally good.
    pub probability: f64,
    /// 95 % interval, by resampling the seeds of each task, separately for both methods. `None` if a task has one seed.
    pub interval: Option<Interval>,
    /// Number of runs of the first method.
    pub size: SampleSize,
    /// Number of runs of the second method.
    pub other_size: SampleSize,
}

/// The mean over tasks of `P(X > Y) + P(X = Y) / 2` for a run `X` of one method and a run `Y` of the other (Mann and
/// Whitney's `U` divided by the number of pairs). `None` unless both have the same tasks; seeds are not paired and may
/// differ.
pub fn probability_of_improvement(
    scores: &MethodScores,
    other: &MethodScores,
    resampling: &Resampling,
) -> Option<Improvement> {
    if !scores.has_tasks_of(other) {
        return None;
    }
    let (size, other_size) = (scores.size(), other.size());
    let (mut xs, mut ys) = (scores.strata().to_vec(), other.strata().to_vec());
    let probability = mean_superiority(&xs, &ys);
    let has_spread = size.fewest_seeds.min(other_size.fewest_seeds) > 1;
    let values = resampling.streams().filter(|_| has_spread).map(|mut random| {
        resample(scores.strata(), &mut random, &mut xs);
        resample(other.strata(), &mut random, &mut ys);
        mean_superiority(&xs, &ys)
    });
    Some(Improvement { probability, interval: Interval::of(values.collect()), size, other_size })
}

/// `[task][run]` each.
fn mean_superiority(xs: &[Vec<f64>], ys: &[Vec<f64>]) -> f64 {
    let of_task = |xs: &[f64], ys: &[f64]| {
        let pairs = xs.iter().flat_map(|x| ys.iter().map(move |y| (x, y)));
        let u: f64 = pairs.map(|(x, y)| if x > y { 1.0 } else { 0.5 * f64::from(u8::from(x == y)) }).sum();
        u / (xs.len() * ys.len()) as f64
    };
    xs.iter().zip(ys).map(|(xs, ys)| of_task(xs, ys)).sum::<f64>() / xs.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::scores::{Run, Scores};
    use touchstream_env::seed::RunSeed;

    #[test]
    fn probabilities_count_pairs() {
        #[track_caller]
        fn check(xs: &[&[f64]], ys: &[&[f64]], wanted: f64) {
            let found = mean_superiority(
                &xs.iter().map(|task| task.to_vec()).collect::<Vec<_>>(),
                &ys.iter().map(|task| task.to_vec()).collect::<Vec<_>>(),
            );
            assert!((found - wanted).abs() < 1e-12, "{found}");
        }
        check(&[&[1.0, 2.0]], &[&[0.0]], 1.0);
        check(&[&[0.0]], &[&[1.0, 2.0]], 0.0);
        check(&[&[1.0, 1.0]], &[&[1.0, 1.0, 1.0]], 0.5);
        check(&[&[1.0, 3.0]], &[&[1.0, 2.0, 3.0]], 0.5);
        check(&[&[2.0], &[0.0]], &[&[2.0, 1.0], &[1.0]], 0.375);
    }

    #[test]
    fn methods_need_the_same_tasks() {
        let runs = [("x", "a"), ("x", "b"), ("y", "a"), ("z", "a"), ("z", "c")];
        let runs = runs.map(|(method, task)| Run { method, task, seed: 1, score: 0.5 });
        let scores = Scores::new(runs).unwrap();
        for (x, y, is_comparable) in
            [("x", "y", false), ("y", "x", false), ("x", "z", false), ("y", "y", true)]
        {
            let (x, y) = (scores.method(x).unwrap(), scores.method(y).unwrap());
            let found = probability_of_improvement(x, y, &Resampling::new(RunSeed(1)));
            assert_eq!(found.is_some(), is_comparable);
        }
    }
}
