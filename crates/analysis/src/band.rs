//! Mean curves over seeds, with a bootstrapped band.

use crate::run::Points;
use crate::statistics::Interval;
use crate::statistics::widening;
use serde::Serialize;
use std::collections::BTreeMap;
use touchstream_env::seed::{RunSeed, StreamName};

const BANDS: StreamName = StreamName::new("findings/bands");
const SEED: RunSeed = RunSeed(1);
const N_RESAMPLES: usize = 1000;

/// A mean over runs at each evaluation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MeanCurve {
    pub n: usize,
    /// In the order of steps.
    pub points: Vec<MeanPoint>,
}

/// One evaluation of a mean curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MeanPoint {
    pub step: u64,
    pub mean: f64,
    /// 95 % interval at this evaluation alone, by resampling runs; widened for few runs. `None` for one run.
    pub interval: Option<Interval>,
}

/// Computes bands. All curves with the same number of runs use the same resamples.
#[derive(Default)]
pub(crate) struct Bands {
    /// `[resample][drawn]`, by the number of runs.
    drawn: BTreeMap<usize, Vec<u32>>,
}

impl Bands {
    /// All curves have the same steps. `None` for no curve.
    pub fn mean_curve(&mut self, curves: &[&Points]) -> Option<MeanCurve> {
        let (n, n_evaluations) = (curves.len(), curves.first()?.len());
        // `[run][evaluation]`
        let values: Vec<Vec<f64>> =
            curves.iter().map(|curve| curve.iter().map(|point| point.1).collect()).collect();
        let mut sums = vec![0.0; n_evaluations];
        let sum_of = |which: &mut dyn Iterator<Item = usize>, sums: &mut [f64]| {
            sums.fill(0.0);
            for idx in which {
                sums.iter_mut().zip(&values[idx]).for_each(|(sum, value)| *sum += value);
            }
        };
        sum_of(&mut (0..n), &mut sums);
        let means: Vec<f64> = sums.iter().map(|sum| sum / n as f64).collect();
        // `[evaluation][resample]`
        let mut resampled = vec![Vec::with_capacity(N_RESAMPLES); n_evaluations];
        if n > 1 {
            let widening = widening(n);
            for drawn in self.draw(n).chunks_exact(n) {
                sum_of(&mut drawn.iter().map(|&idx| idx as usize), &mut sums);
                let found =
                    sums.iter().zip(&means).map(|(sum, mean)| mean + widening * (sum / n as f64 - mean));
                resampled.iter_mut().zip(found).for_each(|(all, found)| all.push(found));
            }
        }
        let points = curves[0].iter().zip(means).zip(&mut resampled);
        let points =
            points.map(|((point, mean), all)| MeanPoint { step: point.0, mean, interval: middle(all) });
        Some(MeanCurve { n, points: points.collect() })
    }

    fn draw(&mut self, n: usize) -> &[u32] {
        self.drawn.entry(n).or_insert_with(|| {
            let resample = |idx| {
                let mut random = SEED.stream(BANDS, idx);
                (0..n).map(move |_| random.below(n as u32))
            };
            (0..N_RESAMPLES as u64).flat_map(resample).collect()
        })
    }
}

/// The interval that contains the middle 95 % of the values.
fn middle(values: &mut [f64]) -> Option<Interval> {
    let last_idx = values.len().checked_sub(1)?;
    let rank = |share: f64| (share * last_idx as f64).round() as usize;
    let (low_idx, high_idx) = (rank(0.025), rank(0.975));
    let (below, &mut high, _) = values.select_nth_unstable_by(high_idx, f64::total_cmp);
    // For a single value, both ends are this value.
    let low =
        if low_idx < below.len() { *below.select_nth_unstable_by(low_idx, f64::total_cmp).1 } else { high };
    Some(Interval { low, high })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::{Estimate, Resampling, Width};

    #[test]
    fn bands_are_bootstrapped_means_at_each_evaluation() {
        let seeds: Vec<Points> = (0..5)
            .map(|seed| (0..3).map(|at| (at, f64::from(seed * seed) / 16.0 * at as f64)).collect())
            .collect();
        let found = Bands::default().mean_curve(&seeds.iter().collect::<Vec<_>>()).unwrap();
        assert_eq!((found.n, found.points.len()), (5, 3));
        let n_resamples = N_RESAMPLES as u32;
        let resampling = Resampling { seed: SEED, stream: BANDS, n_resamples, width: Width::SmallSample };
        for (at, point) in found.points.iter().enumerate() {
            let numbers: Vec<f64> = seeds.iter().map(|seed| seed[at].1).collect();
            let wanted = Estimate::bootstrapped(&numbers, &resampling).unwrap();
            assert_eq!((point.step, point.mean), (at as u64, wanted.value));
            assert_eq!(point.interval, wanted.interval);
        }
    }

    #[test]
    fn one_run_has_no_band_and_none_no_curve() {
        let one = vec![(0, 0.25), (10, 0.5)];
        let found = Bands::default().mean_curve(&[&one]).unwrap();
        assert_eq!(found.points[1], MeanPoint { step: 10, mean: 0.5, interval: None });
        assert_eq!(Bands::default().mean_curve(&[]), None);
    }
}
