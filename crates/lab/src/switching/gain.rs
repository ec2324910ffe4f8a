//! What old modules are worth on a new task: RGain and TGain of two runs' curves.

use crate::curve::CurveRow;
use touchstream_statistics::Gains;

/// The mean validation reward along a curve: the area under it, over its length. NaN where there is no curve.
pub fn area(rows: &[CurveRow]) -> f64 {
    touchstream_statistics::area(&points(rows)).map_or(f64::NAN, |area| area.mean_reward)
}

/// Gains of a curve over another with the same steps; `None` if they have not, or if there is nothing to divide by.
pub fn gains(switched: &[CurveRow], scratch: &[CurveRow]) -> Option<Gains> {
    touchstream_statistics::gains(&points(switched), &points(scratch))
}

/// Step and validation reward.
fn points(rows: &[CurveRow]) -> Vec<(u64, f64)> {
    rows.iter().map(|row| (row.step, row.validation.reward)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstream_agent::Evaluation;

    fn curve(points: &[(u64, f64)]) -> Vec<CurveRow> {
        let row = |&(step, reward): &(u64, f64)| CurveRow {
            step,
            lesson: 1,
            train_reward: None,
            train_trials: 0,
            train_loss: None,
            reuse: None,
            validation: Evaluation {
                n_trials: 1,
                reward,
                reward_se: 0.0,
                on_object: None,
                cross_entropy: 0.0,
                map_error: 0.0,
                calibration_error: 0.0,
                regret: 0.0,
            },
        };
        points.iter().map(row).collect()
    }

    #[test]
    fn gains_are_those_of_the_definitions() {
        let scratch = curve(&[(0, 0.2), (1000, 0.4), (2000, 0.6)]);
        let switched = curve(&[(0, 0.5), (1000, 0.8), (2000, 0.8)]);
        assert!((area(&scratch) - 0.4).abs() < 1e-12);
        let Gains { relative, transfer } = gains(&switched, &scratch).unwrap();
        // (0.725 - 0.4) / 0.4, and 0.4 more after 1000 steps.
        assert!((relative - 0.8125).abs() < 1e-12, "{relative}");
        assert!((transfer - 0.4).abs() < 1e-12, "{transfer}");
        // At step 0 it counts as at the first evaluation.
        let at_once = curve(&[(0, 0.9), (1000, 0.8), (2000, 0.8)]);
        assert!((gains(&at_once, &scratch).unwrap().transfer - 0.7).abs() < 1e-12);
        assert_eq!(gains(&switched, &scratch[..2]), None);
    }
}
