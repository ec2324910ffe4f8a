//! The same task again after a cue: nothing should be lost, and the new module should hardly count.

use super::judgement::{Found, Judgement};
use super::missing::Missing;
use super::study::Study;
use crate::figure::{Figure, count};
use crate::paper::{EMS, NO_SWITCH};
use crate::switching::{SeedGain, gains_of};

/// This share of the old level is back at it.
const BACK: f64 = 0.95;

fn numbers(study: &Study, way: &str, number: fn(&SeedGain) -> Option<f64>) -> Vec<f64> {
    let found = gains_of(study.switches, EMS, way, number);
    found.get(NO_SWITCH).map_or_else(Vec::new, |seeds| seeds.values().copied().collect())
}

fn missing(n_there: usize, way: &str, what: &str) -> Missing {
    let mut missing = Missing::default();
    missing.need(n_there, format_args!("{EMS} at {NO_SWITCH}, {way}, with {what}"));
    missing
}

/// The best reward up to the first evaluation after the cue, or within the first 5 % of the steps, must be at least 95 % of
/// the base's at its end, in the mean over seeds.
pub(crate) fn back_at_once(study: &Study, way: &str) -> Judgement {
    let shares = numbers(study, way, |seed| {
        let base_end = seed.base_end.filter(|&reward| reward > 0.0)?;
        Some(seed.early_reward / base_end).filter(|share| share.is_finite())
    });
    let missing = missing(shares.len(), way, "the base's reward at its end");
    let Some(figure) = Figure::of(&shares) else { return Found::nothing().missing(&missing) };
    let n_back = shares.iter().filter(|&&share| share >= BACK).count();
    let found = Found {
        found: format!("{figure} of the old level; {n_back} of {} runs at 0.95 of it", shares.len()),
        n: count(shares.len(), "seed"),
    };
    match (missing.is_none(), figure.value >= BACK) {
        (false, _) => found.missing(&missing),
        (true, true) => found.judged(true, "at least 95 % of the old level almost at once"),
        (true, false) => found.judged(false, "less than 95 % of the old level by then"),
    }
}

/// The interval of the old modules' share at the end must lie above one half.
pub(crate) fn old_module_keeps_weight(study: &Study, way: &str) -> Judgement {
    let shares = numbers(study, way, |seed| seed.reuse_end);
    let missing = missing(shares.len(), way, "the old modules' share");
    let Some(figure) = Figure::of(&shares) else { return Found::nothing().missing(&missing) };
    let found = Found {
        found: format!("the old modules' share is {figure} at the end"),
        n: count(shares.len(), "seed"),
    };
    if missing.is_none() { found.above(figure.beside(0.5), 0.5) } else { found.missing(&missing) }
}
