//! What old modules are worth on a new task: RGain and TGain.

use crate::curve::CurveRow;

/// The mean validation reward along a curve: the area under it, over its length. NaN where there is no curve.
pub fn area(rows: &[CurveRow]) -> f64 {
    let points: Vec<(u64, f64)> = rows.iter().map(|row| (row.step, row.validation.reward)).collect();
    touchstream_statistics::area(&points).map_or(f64::NAN, |area| area.mean_reward)
}

/// How much better a skill was learned with old modules than without.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gains {
    /// `RGain = (AUC_switch - AUC_scratch) / AUC_scratch`.
    pub relative: f64,
    /// `TGain = max_t delta_t / argmax_t delta_t`, in reward a thousand steps. A largest difference at step 0 counts as
    /// at the first evaluation.
    pub transfer: f64,
}

/// Gains of a curve over another with the same steps; `None` if they have not.
pub fn gains(switched: &[CurveRow], scratch: &[CurveRow]) -> Option<Gains> {
    let same_steps = switched.iter().map(|row| row.step).eq(scratch.iter().map(|row| row.step));
    if !same_steps || switched.len() < 2 {
        return None;
    }
    let first_step = switched[1].step;
    let deltas = switched.iter().zip(scratch);
    let deltas = deltas.map(|(a, b)| (a.step.max(first_step), a.validation.reward - b.validation.reward));
    // The first of equals.
    let most =
        deltas.fold(
            (first_step, f64::NEG_INFINITY),
            |best, (step, delta)| {
                if delta > best.1 { (step, delta) } else { best }
            },
        );
    let of_scratch = area(scratch);
    Some(Gains {
        relative: (area(switched) - of_scratch) / of_scratch,
        transfer: most.1 / most.0 as f64 * 1000.0,
    })
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
