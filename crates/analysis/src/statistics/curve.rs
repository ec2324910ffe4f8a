//! Learning curves as (step, reward) pairs: area, final reward, and the horizon of a task.

use super::error::CurveError;

/// The area under a learning curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Area {
    /// The area divided by the curve's length: the mean reward along the curve.
    pub mean_reward: f64,
    pub n_evaluations: usize,
    pub first_step: u64,
    pub last_step: u64,
}

/// By the trapezoidal rule, divided by the number of steps; for a single evaluation, its reward. `curve` has (step,
/// reward) pairs in the order of steps.
pub fn area(curve: &[(u64, f64)]) -> Result<Area, CurveError> {
    let Ends { first: (first_step, reward), last: (last_step, _) } = check(curve)?;
    let trapezoid = |pair: &[(u64, f64)]| {
        let width = (pair[1].0 - pair[0].0) as f64;
        width * (pair[0].1 + pair[1].1) / 2.0
    };
    let mean_reward = if first_step == last_step {
        reward
    } else {
        curve.windows(2).map(trapezoid).sum::<f64>() / (last_step - first_step) as f64
    };
    Ok(Area { mean_reward, n_evaluations: curve.len(), first_step, last_step })
}

/// The final reward of a curve: the mean of the last tenth of its evaluations, but at least one, because a single
/// evaluation is noisy. 0 for an empty curve.
pub fn end(curve: &[(u64, f64)]) -> f64 {
    let last = &curve[curve.len() - curve.len().div_ceil(10)..];
    last.iter().map(|point| point.1).sum::<f64>() / last.len().max(1) as f64
}

/// The step up to which modules are compared on a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Horizon {
    pub step: u64,
    /// Number of evaluations up to and including the horizon.
    pub n_evaluations: usize,
    /// Number of modules that have learned something and are close to their final reward at this step.
    pub n_converged: usize,
    /// Number of modules that have learned something; the horizon is when more than half of these have converged.
    pub n_learned: usize,
    pub n_modules: usize,
}

/// A module has learned something if its final reward is at least this much above its first evaluation.
const LEAST_RISE: f64 = 0.05;

/// The first evaluation by which more than half of the modules that have learned anything have reached 95 % of their
/// own final reward ([`end`]), even if they drop below it later; the last evaluation if no module has learned anything.
/// There is one curve per module, all with the same steps. At its last evaluation a module counts as converged in any
/// case, also with a negative final reward.
///
/// Completes the paper, which takes areas "at the point in time when the majority of models converge", of "modules
/// capable of convergence on a task", without a definition of convergence: here it is 95 % of the final reward.
///
/// Departs from the paper: only modules whose reward rises by at least 0.05 are considered. A module that stays at
/// chance is at its final reward from the start, so with a majority of such modules the horizon would be before any
/// module has learned anything.
pub fn horizon(curves: &[&[(u64, f64)]]) -> Result<Horizon, CurveError> {
    let steps = curves.first().ok_or(CurveError::Empty)?;
    let mut reached_at = Vec::with_capacity(curves.len());
    for curve in curves {
        let Ends { first: (_, first_reward), .. } = check(curve)?;
        if !curve.iter().map(|point| point.0).eq(steps.iter().map(|point| point.0)) {
            return Err(CurveError::OtherSteps);
        }
        let final_reward = end(curve);
        if final_reward - first_reward < LEAST_RISE {
            continue;
        }
        let reached = curve.iter().position(|point| point.1 >= 0.95 * final_reward);
        reached_at.push(reached.unwrap_or(curve.len() - 1));
    }
    // After sorting, the middle element is the first step that more than half have reached.
    reached_at.sort_unstable();
    let at = reached_at.get(reached_at.len() / 2).copied().unwrap_or(steps.len() - 1);
    Ok(Horizon {
        step: steps[at].0,
        n_evaluations: at + 1,
        n_converged: reached_at.iter().filter(|&&reached| reached <= at).count(),
        n_learned: reached_at.len(),
        n_modules: curves.len(),
    })
}

struct Ends {
    first: (u64, f64),
    last: (u64, f64),
}

/// Checks that the curve is not empty, that steps do not decrease, and that rewards are finite.
fn check(curve: &[(u64, f64)]) -> Result<Ends, CurveError> {
    let (Some(&first), Some(&last)) = (curve.first(), curve.last()) else { return Err(CurveError::Empty) };
    if let Some(pair) = curve.windows(2).find(|pair| pair[1].0 < pair[0].0) {
        return Err(CurveError::StepFalls { step: pair[1].0, before: pair[0].0 });
    }
    match curve.iter().find(|point| !point.1.is_finite()) {
        Some(&(step, reward)) => Err(CurveError::NotFinite { step, reward }),
        None => Ok(Ends { first, last }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_are_mean_rewards() {
        #[track_caller]
        fn check(curve: &[(u64, f64)], wanted: f64) {
            let found = area(curve).unwrap();
            assert!((found.mean_reward - wanted).abs() < 1e-12, "{found:?}");
            let ends = (found.n_evaluations, found.first_step, found.last_step);
            assert_eq!(ends, (curve.len(), curve[0].0, curve[curve.len() - 1].0));
        }
        check(&[(7, 0.3)], 0.3);
        check(&[(0, 0.2), (1000, 0.4), (2000, 0.6)], 0.4);
        // Evaluations need not be evenly spaced, nor start at 0.
        check(&[(100, 0.0), (200, 1.0), (500, 1.0)], (0.5 + 3.0) / 4.0);
        // Two evaluations at one step.
        check(&[(0, 0.0), (10, 0.0), (10, 1.0), (20, 1.0)], 0.5);
    }

    #[test]
    fn what_is_no_curve_is_refused() {
        #[track_caller]
        fn check(curve: &[(u64, f64)], message: &str) {
            assert_eq!(area(curve).unwrap_err().to_string(), message);
            assert_eq!(horizon(&[curve]).unwrap_err().to_string(), message);
        }
        check(&[], "there is no evaluation");
        check(&[(5, 0.1), (4, 0.1)], "step 4 follows step 5");
        check(&[(5, 0.1), (6, f64::NAN)], "the reward at step 6 is NaN");
        assert_eq!(horizon(&[]), Err(CurveError::Empty));
        assert_eq!(horizon(&[&[(5, 0.1)], &[(6, 0.1)]]), Err(CurveError::OtherSteps));
    }

    #[test]
    fn the_horizon_is_where_more_than_half_of_those_that_learn_have_converged() {
        #[track_caller]
        fn check(rewards: &[[f64; 4]], step: u64, n_converged: usize, n_learned: usize) {
            let curves: Vec<Vec<_>> =
                rewards.iter().map(|one| (0..).step_by(100).zip(*one).collect()).collect();
            let curves: Vec<&[_]> = curves.iter().map(Vec::as_slice).collect();
            let n_evaluations = step as usize / 100 + 1;
            let wanted = Horizon { step, n_evaluations, n_converged, n_learned, n_modules: rewards.len() };
            assert_eq!(horizon(&curves), Ok(wanted));
        }
        let (early, late) = ([0.0, 0.96, 0.5, 1.0], [0.0, 0.0, 0.94, 1.0]);
        let at_once = [0.96, 1.0, 1.0, 1.01];
        check(&[at_once], 0, 1, 1);
        check(&[late], 300, 1, 1);
        // Exactly half is not a majority.
        check(&[at_once, early], 100, 2, 2);
        check(&[at_once, late], 300, 2, 2);
        check(&[late, early, at_once], 100, 2, 3);
        check(&[late, early, at_once, late], 300, 4, 4);
        check(&[early, early, late], 100, 2, 3);
        // The reward never gets close to its negative final value.
        check(&[[-2.0, -2.0, -2.0, -1.0]], 300, 1, 1);
        // Modules that stay at chance, rise by too little or fall are not considered.
        let (chance, little, worse) = ([0.25; 4], [0.25, 0.25, 0.3, 0.29], [0.5, 0.5, 0.5, 0.25]);
        check(&[chance, little, worse, late], 300, 1, 1);
        check(&[chance, little, worse, early, early, late], 100, 2, 3);
        // No module has learned anything.
        check(&[chance, little, worse], 300, 0, 0);
        check(&[[1.0; 4]], 300, 0, 0);
    }

    #[test]
    fn ends_are_the_mean_of_the_last_tenth() {
        #[track_caller]
        fn check(rewards: &[f64], wanted: f64) {
            let points: Vec<(u64, f64)> = (0..).zip(rewards.iter().copied()).collect();
            assert_eq!(end(&points), wanted);
        }
        check(&[], 0.0);
        check(&[0.25], 0.25);
        check(&[0.5, 1.0], 1.0);
        check(&[0.0; 10], 0.0);
        let mut eleven = [0.0; 11];
        eleven[9..].copy_from_slice(&[0.5, 1.0]);
        check(&eleven, 0.75);
    }

    /// A lucky or unlucky last evaluation neither moves the horizon nor decides who has learned.
    #[test]
    fn a_noisy_last_evaluation_does_not_move_the_horizon() {
        // At 0.8 from step 500 on, of 30 evaluations; the last tenth is three.
        let curve = |last: f64| {
            let reward = |idx: u64| match idx {
                0..5 => 0.16 * idx as f64,
                29 => last,
                _ => 0.8,
            };
            (0..30).map(|idx| (100 * idx, reward(idx))).collect::<Vec<_>>()
        };
        for last in [0.74, 0.8, 0.86] {
            assert_eq!(horizon(&[&curve(last)]).unwrap().step, 500, "last evaluation {last}");
        }
        let chance = |last: f64| {
            (0..30).map(|idx| (100 * idx, if idx == 29 { last } else { 0.25 })).collect::<Vec<_>>()
        };
        assert_eq!(horizon(&[&chance(0.35)]).unwrap().n_learned, 0);
    }
}
