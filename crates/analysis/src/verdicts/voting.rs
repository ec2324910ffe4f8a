//! Claims on voting: its gains, by voting method and module, and how much of them is due to transformations or is not
//! transfer.

use super::judgement::{Found, Judgement};
use super::missing::{Missing, first_of};
use super::study::Study;
use super::switches::{Learner, SwitchPairs, need_switches, switch_means};
use crate::counted::{count, seeds};
use crate::paper::{EMS, MIN_SEEDS, NONE_LARGE};
use crate::statistics::{Estimate, Relation};
use crate::switch_method::SwitchMethod;
use crate::switching::SeedGain;

/// Minimum number of switches for a claim about switches in general.
const MIN_SWITCHES: usize = 3;

fn r_gain(seed: &SeedGain) -> Option<f64> {
    seed.r_gain
}

fn t_gain(seed: &SeedGain) -> Option<f64> {
    seed.t_gain
}

/// Mean RGain over seeds must be above 0 at each of the fifteen switches; the number of switches at which it is
/// significant is also reported.
pub(crate) fn gains_everywhere(study: &Study, learner: Learner) -> Judgement {
    let means = switch_means(study, learner, r_gain);
    let mut missing = Missing::default();
    need_switches(&mut missing, learner, &means);
    let all: Vec<f64> = means.iter().map(|(_, mean)| mean).map(|mean| mean.value).collect();
    let Some(over_switches) = Estimate::of(&all) else { return Found::nothing().missing(&missing) };
    let n_positive = all.iter().filter(|&&gain| gain > 0.0).count();
    let n_significant =
        means.iter().map(|(_, mean)| mean).filter(|mean| mean.compare_to(0.0) == Relation::Above).count();
    let n_seeds = || means.iter().map(|(_, mean)| mean).map(|mean| mean.n);
    let (fewest, most) = (n_seeds().min().unwrap_or(0), n_seeds().max().unwrap_or(0));
    let found = Found::new(
        format!(
            "positive at {n_positive} of {}, significantly at {n_significant}; mean {over_switches:+}",
            count(all.len(), "switch")
        ),
        format!("{}, {} each", count(all.len(), "switch"), seeds(fewest, most)),
    );
    if !missing.is_none() {
        return found.missing(&missing);
    }
    let lost: Vec<_> = means.iter().filter(|(_, mean)| mean.value <= 0.0).collect();
    if lost.is_empty() {
        let why = format!("positive everywhere, significantly at {n_significant} of {}", all.len());
        return found.judged(true, why);
    }
    let n_significantly_lost =
        lost.iter().filter(|(_, mean)| mean.compare_to(0.0) == Relation::Below).count();
    let text: Vec<String> = lost.iter().map(|(switch, mean)| format!("{switch} {mean:+}")).collect();
    let why = format!(
        "not positive at {}, significantly negative at {n_significantly_lost}: {}",
        count(lost.len(), "switch"),
        first_of(&text, "switch")
    );
    found.judged(false, why)
}

/// Two learners at all fifteen switches, and the runs that are missing.
fn pair(study: &Study, a: Learner, b: Learner, gain: fn(&SeedGain) -> Option<f64>) -> (SwitchPairs, Missing) {
    let mut missing = Missing::default();
    need_switches(&mut missing, a, &switch_means(study, a, gain));
    need_switches(&mut missing, b, &switch_means(study, b, gain));
    let pairs = SwitchPairs::new(study, a, b, gain);
    if missing.is_none() {
        pairs.need(&mut missing, a, b);
    }
    (pairs, missing)
}

/// The interval over switches of a difference in gain must lie above 0.
fn gains_more(study: &Study, a: Learner, b: Learner, gain: fn(&SeedGain) -> Option<f64>) -> Judgement {
    let (pairs, missing) = pair(study, a, b, gain);
    let Some(difference) = pairs.figure(|a, b| a - b) else { return Found::nothing().missing(&missing) };
    let n_above = pairs.pairs.iter().filter(|pair| pair.a > pair.b).count();
    let found =
        pairs.found(format!("{difference:+}, above at {n_above} of {}", count(pairs.pairs.len(), "switch")));
    if missing.is_none() { found.above(difference.compare_to(0.0), 0.0) } else { found.missing(&missing) }
}

/// Mean RGain of unit voting minus that of layer voting.
pub(crate) fn unit_above_layer(study: &Study) -> Judgement {
    let ems = |way| Learner { module: EMS, way };
    gains_more(study, ems(SwitchMethod::UNIT), ems(SwitchMethod::LAYER), r_gain)
}

/// Mean TGain of EMS minus that of the large module.
pub(crate) fn ems_faster(study: &Study, way: SwitchMethod) -> Judgement {
    gains_more(study, Learner { module: EMS, way }, Learner { module: NONE_LARGE, way }, t_gain)
}

/// Mean RGain with transformations minus that without.
pub(crate) fn transformations_help(study: &Study) -> Judgement {
    let ems = |way| Learner { module: EMS, way };
    gains_more(study, ems(SwitchMethod::LAYER), ems(SwitchMethod::LAYER_PLAIN), r_gain)
}

/// Without transformations, mean RGain must be at least half of that with them, by point estimates.
pub(crate) fn voting_does_most(study: &Study) -> Judgement {
    let ems = |way| Learner { module: EMS, way };
    let (pairs, missing) = pair(study, ems(SwitchMethod::LAYER), ems(SwitchMethod::LAYER_PLAIN), r_gain);
    let (Some(with), Some(without)) = (pairs.figure(|with, _| with), pairs.figure(|_, without| without))
    else {
        return Found::nothing().missing(&missing);
    };
    let found =
        pairs.found(format!("{without:+} without, {with:+} with{}", share_of(without.value, with.value)));
    if !missing.is_none() {
        return found.missing(&missing);
    }
    match with.value > 0.0 {
        false => found.judged(false, "there is no gain"),
        true if without.value >= with.value / 2.0 => found.judged(true, "at least half is left without them"),
        true => found.judged(false, "less than half is left without them"),
    }
}

/// A shuffled old module must gain significantly less than an intact one, and at most half as much, at the switches
/// that have both.
pub(crate) fn shuffled_gains_less(study: &Study) -> Judgement {
    let ems = |way| Learner { module: EMS, way };
    let all = || SwitchPairs::new(study, ems(SwitchMethod::LAYER), ems(SwitchMethod::LAYER_SHUFFLED), r_gain);
    let enough = all().with_seeds(MIN_SEEDS);
    let n_enough = enough.pairs.len();
    let pairs = if n_enough < MIN_SWITCHES { all() } else { enough };
    let means =
        (pairs.figure(|intact, _| intact), pairs.figure(|_, shuffled| shuffled), pairs.figure(|a, b| a - b));
    let why = || {
        format!(
            "{MIN_SWITCHES} switches with {MIN_SEEDS} seeds that ems has by layer, layer-shuffled and scratch are needed, \
             {n_enough} are there"
        )
    };
    let (Some(intact), Some(shuffled), Some(less)) = means else { return Found::nothing().not_enough(why()) };
    let found = pairs.found(format!(
        "{shuffled:+} shuffled, {:+.3} intact{}; {less:+} less",
        intact.value,
        share_of(shuffled.value, intact.value)
    ));
    match less.compare_to(0.0) {
        _ if n_enough < MIN_SWITCHES => found.not_enough(why()),
        Relation::Above if shuffled.value <= intact.value / 2.0 => {
            found.judged(true, "significantly less, and at most half of it")
        }
        Relation::Above => found.judged(false, "significantly less, but more than half of it"),
        Relation::Below => found.judged(false, "the shuffled one gains more"),
        Relation::Unclear => found.judged(false, "no significant difference: the interval includes 0"),
    }
}

/// `, a share of 0.61`; empty if `whole` is not positive.
fn share_of(part: f64, whole: f64) -> String {
    if whole > 0.0 { format!(", a share of {:.2}", part / whole) } else { String::new() }
}
