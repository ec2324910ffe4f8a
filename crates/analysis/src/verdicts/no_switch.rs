//! Claims on a cue without a switch: the reward is kept, and the new module gets little weight.

use super::judgement::{Found, Judgement};
use super::missing::Missing;
use super::study::Study;
use crate::counted::count;
use crate::paper::{EMS, NO_SWITCH};
use crate::statistics::{Estimate, Relation};
use crate::switch_method::SwitchMethod;
use crate::switching::{SeedGain, gains_of};

/// If the interval lies below this share of the old reward, the run is not back at it.
const BACK: f64 = 0.95;
/// If the interval lies above this share of the old reward, the run is back at it.
const NEAR: f64 = 0.9;
/// A base whose final reward is this far above that of an untrained module has learned the task.
const LEARNED: f64 = 0.1;

fn numbers(study: &Study, way: SwitchMethod, number: fn(&SeedGain) -> Option<f64>) -> Vec<f64> {
    let found = gains_of(study.switches, EMS, way, number);
    found.get(NO_SWITCH).map_or_else(Vec::new, |seeds| seeds.values().copied().collect())
}

fn missing(n_there: usize, way: SwitchMethod, what: &str) -> Missing {
    let mut missing = Missing::default();
    missing.need(n_there, format_args!("{EMS} at {NO_SWITCH}, {way}, {what}"));
    missing
}

/// The reward at the first evaluation after 5 % of the steps, divided by the base's final reward. Back at the old
/// level: the interval over seeds lies above 0.9. Not back: it lies below 0.95. Otherwise there are too few seeds. Only
/// bases that have learned the task are used.
pub(crate) fn back_at_once(study: &Study, way: SwitchMethod) -> Judgement {
    let shares = numbers(study, way, |seed| {
        let (base_end, start) = seed.base_end.zip(seed.scratch_start)?;
        (base_end - start >= LEARNED)
            .then_some(seed.early_reward / base_end)
            .filter(|share| share.is_finite())
    });
    let missing = missing(shares.len(), way, "whose base has learned the task");
    let Some(figure) = Estimate::of(&shares) else { return Found::nothing().missing(&missing) };
    let n_back = shares.iter().filter(|&&share| share >= BACK).count();
    let n_seeds = count(shares.len(), "seed");
    let found = Found::new(
        format!("{figure} of the old level; {n_back} of {} runs at {BACK} of it", shares.len()),
        n_seeds.clone(),
    );
    match (figure.compare_to(NEAR), figure.compare_to(BACK)) {
        _ if !missing.is_none() => found.missing(&missing),
        (Relation::Above, _) => {
            found.judged(true, format!("within a tenth of the old level: the interval lies above {NEAR} of it"))
        }
        (_, Relation::Below) => {
            found.judged(false, format!("not back by then: the interval lies below {BACK} of the old level"))
        }
        _ => found.not_enough(format!(
            "too few seeds: the interval of {n_seeds} is neither above {NEAR} of the old level nor below {BACK} of it"
        )),
    }
}

/// The new module's vote share must end significantly below half of its first value. Initial votes are almost equal, so
/// even without learning several old modules together have more than half.
pub(crate) fn new_module_loses_weight(study: &Study, way: SwitchMethod) -> Judgement {
    let starts = numbers(study, way, |seed| seed.reuse_start.map(|share| 1.0 - share));
    let ends = numbers(study, way, |seed| seed.reuse_end.map(|share| 1.0 - share));
    // Pairs by seed: a run has both values or neither.
    let below: Vec<f64> = starts.iter().zip(&ends).map(|(start, end)| start / 2.0 - end).collect();
    let missing = missing(below.len(), way, "with recorded votes");
    let (Some(start), Some(end), Some(below)) =
        (Estimate::of(&starts), Estimate::of(&ends), Estimate::of(&below))
    else {
        return Found::nothing().missing(&missing);
    };
    let found = Found::new(
        format!("vote share of the new module: {end} at the end, {start} at first"),
        count(below.n, "seed"),
    );
    match below.compare_to(0.0) {
        _ if !missing.is_none() => found.missing(&missing),
        Relation::Above => found.judged(true, "significantly below half of the first value"),
        Relation::Below => found.judged(false, "significantly above half of the first value"),
        Relation::Unclear => found.judged(false, "not significantly below half of the first value"),
    }
}
