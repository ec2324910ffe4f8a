//! Statistics of features: their range and sparsity, and how similar different screens are to an encoder.

use super::scene_table::SceneTable;

/// Statistics of many values.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ValueStatistics {
    n_finite: u64,
    n_zeros: u64,
    n_not_finite: u64,
    sum: f64,
    sum_of_squares: f64,
}

impl ValueStatistics {
    pub fn add(&mut self, values: &[f32]) {
        for &value in values {
            if !value.is_finite() {
                self.n_not_finite += 1;
                continue;
            }
            self.n_finite += 1;
            self.n_zeros += u64::from(value == 0.0);
            self.sum += f64::from(value);
            self.sum_of_squares += f64::from(value).powi(2);
        }
    }

    /// Mean of the finite values; 0 if there are none.
    pub fn mean(&self) -> f64 {
        self.sum / self.n_finite.max(1) as f64
    }

    /// Standard deviation of the finite values.
    pub fn deviation(&self) -> f64 {
        let mean_of_squares = self.sum_of_squares / self.n_finite.max(1) as f64;
        (mean_of_squares - self.mean().powi(2)).max(0.0).sqrt()
    }

    /// Share of zeros among the finite values, 0..=1.
    pub fn share_of_zeros(&self) -> f64 {
        self.n_zeros as f64 / self.n_finite.max(1) as f64
    }

    /// Number of infinite and NaN values; should be 0.
    pub fn n_not_finite(&self) -> u64 {
        self.n_not_finite
    }
}

/// Statistics of the scene vectors of many screens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SceneStatistics {
    pub values: ValueStatistics,
    /// Norm of the shortest vector.
    pub min_norm: f64,
    /// Norm of the longest vector.
    pub max_norm: f64,
    /// Mean cosine similarity of two different screens; near 1 if all screens look alike to the encoder.
    pub mean_cosine: f64,
    /// The same after subtracting the mean vector.
    pub mean_centred_cosine: f64,
}

impl SceneStatistics {
    pub fn of(scenes: &SceneTable) -> Self {
        let mut values = ValueStatistics::default();
        values.add(scenes.values());
        let norm = |row: &[f32]| row.iter().map(|&value| f64::from(value).powi(2)).sum::<f64>().sqrt();
        let mean = scenes.mean();
        Self {
            values,
            min_norm: scenes.rows().map(norm).reduce(f64::min).unwrap_or(0.0),
            max_norm: scenes.rows().map(norm).reduce(f64::max).unwrap_or(0.0),
            mean_cosine: mean_cosine(&scenes.directions_from(&vec![0.0; mean.len()])),
            mean_centred_cosine: mean_cosine(&scenes.directions_from(&mean)),
        }
    }
}

/// Mean cosine over all pairs of different rows of norm 1: the squared norm of their sum contains every pair twice.
fn mean_cosine(directions: &SceneTable) -> f64 {
    let n = directions.rows().len() as f64;
    if n < 2.0 {
        return 0.0;
    }
    let squared = |values: &[f32], scale: f64| {
        values.iter().map(|&value| (f64::from(value) * scale).powi(2)).sum::<f64>()
    };
    let of_sum = squared(&directions.mean(), n);
    let of_each = squared(directions.values(), 1.0);
    (of_sum - of_each) / (n * (n - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-6, "{found} is not {expected}");
    }

    #[test]
    fn statistics_of_three_rows() {
        // Rows (3, 4), (0, 5), (3, -4).
        let statistics = SceneStatistics::of(&SceneTable::new(vec![3.0, 4.0, 0.0, 5.0, 3.0, -4.0], 2));
        assert_near(statistics.values.mean(), 11.0 / 6.0);
        assert_near(statistics.values.deviation(), (75.0 / 6.0 - (11.0_f64 / 6.0).powi(2)).sqrt());
        assert_near(statistics.values.share_of_zeros(), 1.0 / 6.0);
        assert_near(statistics.min_norm, 5.0);
        // Cosines: 20/25, -7/25, -20/25.
        assert_near(statistics.mean_cosine, -7.0 / 75.0);
    }

    #[test]
    fn similar_screens_differ_after_centring() {
        let offset = SceneTable::new(vec![100.0, 1.0, 100.0, -1.0, 101.0, 0.0, 99.0, 0.0], 2);
        let statistics = SceneStatistics::of(&offset);
        assert!(statistics.mean_cosine > 0.999);
        // Four directions at right angles: two opposite pairs of six.
        assert_near(statistics.mean_centred_cosine, -2.0 / 6.0);
    }

    #[test]
    fn non_finite_values_are_counted_and_excluded() {
        let mut statistics = ValueStatistics::default();
        statistics.add(&[1.0, f32::NAN, 3.0, f32::INFINITY]);
        assert_eq!((statistics.n_not_finite(), statistics.mean()), (2, 2.0));
    }
}
