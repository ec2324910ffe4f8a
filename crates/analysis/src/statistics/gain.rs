//! RGain and TGain: how much old modules help on a second task, computed from two learning curves.

use super::curve::area;

/// The gains from learning with old modules.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gains {
    /// `RGain = (AUC_switch - AUC_scratch) / AUC_scratch`.
    pub relative: f64,
    /// `TGain = max_t delta_t / argmax_t delta_t`, in reward per 1,000 steps. If the largest difference is at step 0,
    /// the step of the first later evaluation is used.
    pub transfer: f64,
}

/// Gains of a curve over another with the same steps. `None` if the steps differ, if there are fewer than two
/// evaluations, or if the divisor would be 0 (the area from scratch, or the step).
pub fn gains(switched: &[(u64, f64)], scratch: &[(u64, f64)]) -> Option<Gains> {
    let same_steps = switched.iter().map(|point| point.0).eq(scratch.iter().map(|point| point.0));
    if !same_steps || switched.len() < 2 {
        return None;
    }
    let first_step = switched[1].0;
    let deltas = switched.iter().zip(scratch).map(|(a, b)| (a.0.max(first_step), a.1 - b.1));
    // The first of equal differences.
    let most = deltas
        .fold((first_step, f64::NEG_INFINITY), |best, delta| if delta.1 > best.1 { delta } else { best });
    let of_scratch = area(scratch).ok()?.mean_reward;
    let relative = (area(switched).ok()?.mean_reward - of_scratch) / of_scratch;
    let transfer = most.1 / most.0 as f64 * 1000.0;
    (relative.is_finite() && transfer.is_finite()).then_some(Gains { relative, transfer })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gains_are_those_of_the_definitions() {
        let scratch = [(0, 0.2), (1000, 0.4), (2000, 0.6)];
        #[track_caller]
        fn check(switched: &[(u64, f64)], scratch: &[(u64, f64)], wanted: (f64, f64)) {
            let Gains { relative, transfer } = gains(switched, scratch).unwrap();
            assert!((relative - wanted.0).abs() < 1e-12, "{relative}");
            assert!((transfer - wanted.1).abs() < 1e-12, "{transfer}");
        }
        // (0.725 - 0.4) / 0.4, and 0.4 more after 1000 steps.
        check(&[(0, 0.5), (1000, 0.8), (2000, 0.8)], &scratch, (0.8125, 0.4));
        // A difference at step 0 is divided by the step of the first later evaluation.
        check(&[(0, 0.9), (1000, 0.8), (2000, 0.8)], &scratch, (1.0625, 0.7));
        // Always worse than scratch: TGain uses the smallest loss.
        check(&[(0, 0.0), (1000, 0.1), (2000, 0.2)], &scratch, (-0.75, -0.2));
    }

    #[test]
    fn curves_that_cannot_be_compared_have_none() {
        let curve = [(0, 0.2), (1000, 0.4)];
        assert_eq!(gains(&curve, &curve[..1]), None);
        assert_eq!(gains(&curve[..1], &curve[..1]), None);
        assert_eq!(gains(&[], &[]), None);
        assert_eq!(gains(&curve, &[(0, 0.2), (999, 0.4)]), None);
        assert_eq!(gains(&curve, &[(0, 0.0), (1000, 0.0)]), None, "no area");
        assert_eq!(gains(&curve, &[(0, f64::NAN), (1000, 0.4)]), None);
        assert_eq!(gains(&[(0, 0.3), (0, 0.4)], &[(0, 0.2), (0, 0.2)]), None, "no step");
    }
}
