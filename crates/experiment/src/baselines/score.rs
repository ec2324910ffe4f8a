//! The mean IoU of predicted boxes, with its bootstrap interval.

use touchstream_analysis::statistics::{Estimate, N_RESAMPLES, Resampling, Width};
use touchstream_env::pixel_box::PixelBox;
use touchstream_env::seed::{RunSeed, StreamName};

/// The seed is fixed, so that equal values have equal intervals. With hundreds of screens, intervals need no widening.
const RESAMPLING: Resampling = Resampling {
    seed: RunSeed(0),
    stream: StreamName::new("baselines/resamples"),
    n_resamples: N_RESAMPLES,
    width: Width::Percentile,
};

/// The mean over screens with its 95 % bootstrap interval. The seed is fixed, so that equal values have equal
/// intervals. Panics without screens, or if a value is not finite.
pub fn score_of(values: &[f64]) -> Estimate {
    Estimate::bootstrapped(values, &RESAMPLING).expect("at least one screen, with finite values")
}

/// The mean IoU of predicted boxes with the true ones, of which there are equally many.
pub fn mean_iou(guesses: impl IntoIterator<Item = PixelBox>, truths: &[PixelBox]) -> f64 {
    let sum: f64 = guesses.into_iter().zip(truths).map(|(guess, truth)| f64::from(guess.iou(*truth))).sum();
    sum / truths.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstream_analysis::Interval;
    use touchstream_env::touch::Touch;

    fn bounds(top: usize, left: usize, bottom: usize, right: usize) -> PixelBox {
        let corner = |row, col| Touch::new(row, col).unwrap();
        PixelBox::spanned_by(corner(top, left), corner(bottom, right))
    }

    #[test]
    fn overlaps_are_those_of_known_boxes() {
        let truths = [bounds(0, 0, 9, 9), bounds(0, 0, 9, 9), bounds(0, 0, 9, 9)];
        // The true box, half of it, and a box of the same size with an intersection of 25 of 175 pixels.
        let guesses = [bounds(0, 0, 9, 9), bounds(0, 0, 9, 4), bounds(5, 5, 14, 14)];
        assert!((mean_iou(guesses, &truths) - (1.0 + 0.5 + 1.0 / 7.0) / 3.0).abs() < 1e-7);
    }

    #[test]
    fn the_interval_is_that_of_the_normal_distribution_for_many_screens() {
        let values: Vec<f64> = (0..1000).map(|idx| f64::from(idx % 2)).collect();
        let Estimate { value: mean, interval, n } = score_of(&values);
        let Interval { low, high } = interval.unwrap();
        assert_eq!((n, mean), (1000, 0.5));
        let half = 1.96 * 0.5 / 1000_f64.sqrt();
        assert!((mean - low - half).abs() < 0.004 && (high - mean - half).abs() < 0.004, "{low} {high}");
        assert_eq!((score_of(&[0.25]).value, score_of(&[0.25]).n), (0.25, 1));
    }

    /// Published scores must remain reproducible.
    #[test]
    fn scores_stay_what_they_are_to_the_bit() {
        let values: Vec<f64> = (0..37_u32).map(|idx| f64::from(idx * idx % 101) / 101.0).collect();
        let interval = Some(Interval { low: 0.3722237088573722, high: 0.5689055392025689 });
        assert_eq!(score_of(&values), Estimate { value: 0.47176879850147185, interval, n: 37 });
    }
}
