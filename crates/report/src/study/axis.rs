//! Axes: round ticks, and the position of a value.

/// A linear map from values to pixels.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    /// The values at both ends.
    pub values: (f64, f64),
    /// The pixels of both ends.
    pub pixels: (f64, f64),
}

impl Scale {
    /// Position of a value, clamped to the ends.
    pub fn at(&self, value: f64) -> f64 {
        let (low, high) = self.values;
        let span = if high > low { high - low } else { 1.0 };
        let share = ((value - low) / span).clamp(0.0, 1.0);
        self.pixels.0 + share * (self.pixels.1 - self.pixels.0)
    }

    /// Whether the value is between the ends.
    pub fn holds(&self, value: f64) -> bool {
        (self.values.0..=self.values.1).contains(&value)
    }

    /// About `n_wanted` round values within the ends.
    pub fn ticks(&self, n_wanted: usize) -> Vec<f64> {
        round_ticks(self.values, n_wanted)
    }
}

/// With fewer ticks, other values cannot be estimated.
const LEAST_TICKS: usize = 3;

/// Round values from `low` to `high`: at most `n_wanted`, but at least three.
pub(super) fn round_ticks((low, high): (f64, f64), n_wanted: usize) -> Vec<f64> {
    let span = high - low;
    if !span.is_finite() || span <= 0.0 {
        return vec![low];
    }
    let rough = span / (n_wanted.max(LEAST_TICKS) - 1) as f64;
    let power = 10_f64.powf(rough.log10().floor());
    let factors = [10.0, 5.0, 2.5, 2.0, 1.0, 0.5, 0.25, 0.2, 0.1];
    // Tries wide steps first; takes the last that leaves enough space between ticks, or the first with enough ticks.
    let mut ticks = Vec::new();
    for step in factors.map(|factor| factor * power) {
        if step < rough * 0.999_999 && ticks.len() >= LEAST_TICKS {
            break;
        }
        ticks = multiples_within((low, high), step);
    }
    ticks
}

fn multiples_within((low, high): (f64, f64), step: f64) -> Vec<f64> {
    let first = (low / step - 1e-9).ceil() as i64;
    let last = (high / step + 1e-9).floor() as i64;
    (first..=last).map(|idx| idx as f64 * step).collect()
}

/// About five round numbers from 0 to `max`.
pub(crate) fn ticks(max: f64) -> Vec<f64> {
    let rough = max / 5.0;
    let power = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].iter().map(|factor| factor * power).find(|&step| step >= rough);
    let step = step.unwrap_or(max);
    (0..=(max / step) as u32).map(|idx| f64::from(idx) * step).collect()
}

/// Removes the rounding error of a sum of tenths.
fn rounded(number: f64) -> f64 {
    (number * 1e6).round() / 1e6
}

/// `30k` for 30,000.
pub(crate) fn short_number(number: f64) -> String {
    match number {
        number if number >= 1e6 => format!("{}M", rounded(number / 1e6)),
        number if number >= 1e3 => format!("{}k", rounded(number / 1e3)),
        number => rounded(number).to_string(),
    }
}

/// `-0.25`, `30k`.
pub(super) fn tick_label(value: f64) -> String {
    let sign = if value < 0.0 { "−" } else { "" };
    format!("{sign}{}", short_number(value.abs()))
}

/// The smallest and the largest finite value.
pub(crate) fn extent(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.filter(|value| value.is_finite()).fold(None, |extent, value| match extent {
        None => Some((value, value)),
        Some((low, high)) => Some((low.min(value), high.max(value))),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_from_0_are_round_and_few() {
        assert_eq!(ticks(30_000.0), [0.0, 10_000.0, 20_000.0, 30_000.0]);
        assert_eq!(ticks(100.0), [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]);
        assert_eq!(short_number(2_500.0), "2.5k");
        assert_eq!(short_number(0.1 + 0.2), "0.3");
    }

    #[test]
    fn ticks_are_round_few_and_inside() {
        let cases: [((f64, f64), &[&str]); 9] = [
            ((0.0, 1.0), &["0", "0.25", "0.5", "0.75", "1"]),
            ((0.0, 30_000.0), &["0", "10k", "20k", "30k"]),
            ((-0.4, 0.9), &["−0.25", "0", "0.25", "0.5", "0.75"]),
            // Ticks are multiples of the step.
            ((0.065, 0.591), &["0.1", "0.2", "0.3", "0.4", "0.5"]),
            ((0.97, 1.02), &["0.98", "1", "1.02"]),
            ((-0.5, 1.5), &["−0.5", "0", "0.5", "1", "1.5"]),
            ((0.0, 1_000_000.0), &["0", "250k", "500k", "750k", "1M"]),
            ((3.0, 3.0), &["3"]),
            ((0.0, f64::INFINITY), &["0"]),
        ];
        for (range, labels) in cases {
            let found: Vec<String> = round_ticks(range, 5).into_iter().map(tick_label).collect();
            assert_eq!(found, labels, "{range:?}");
        }
    }

    #[test]
    fn a_scale_keeps_to_its_ends() {
        let scale = Scale { values: (0.0, 2.0), pixels: (100.0, 0.0) };
        for (value, pixel) in [(0.0, 100.0), (1.0, 50.0), (5.0, 0.0), (-1.0, 100.0)] {
            assert_eq!(scale.at(value), pixel);
        }
        assert_eq!(
            [0.0, 2.0, 2.1, -0.1, f64::NAN].map(|value| scale.holds(value)),
            [true, true, false, false, false]
        );
    }

    #[test]
    fn an_extent_leaves_out_what_is_no_number() {
        assert_eq!(extent([f64::NAN, 2.0, -1.0, f64::INFINITY].into_iter()), Some((-1.0, 2.0)));
        assert_eq!(extent([f64::NAN].into_iter()), None);
    }
}
