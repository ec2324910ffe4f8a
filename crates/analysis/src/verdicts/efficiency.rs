//! Claims on TA-N-AUC: EMS above all others, EMS above each other, and the order of the seven.
//!
//! Departs from the paper: areas are divided by that of the best of the seven modules, not of all 24, so that the
//! claims can be tested without the other seventeen.

use super::judgement::{Found, Judgement};
use super::missing::Missing;
use super::study::Study;
use crate::counted::count;
use crate::modules::ModuleAverage;
use crate::paper::{EMS, MAIN_MODULES, MIN_SEEDS, twelve_tasks};
use crate::statistics::{PooledEstimate, Relation};

/// EMS must be significantly above each of the others: the intervals of all differences must lie above 0.
pub(crate) fn ems_is_highest(study: &Study) -> Judgement {
    let (averages, found) = averages(study);
    if let Some(judgement) = whole_or_not_enough(study, &averages) {
        return found.not_enough(judgement);
    }
    if averages[0].module != EMS {
        let higher = averages[0].module.as_str();
        let lead = study.main.difference(higher, EMS);
        let is_clear = lead.is_some_and(|lead| lead.compare_to(0.0) == Relation::Above);
        return found.judged(
            false,
            format!("{higher} is higher, {}significantly", if is_clear { "" } else { "not " }),
        );
    }
    let is_unclear = |module: &&str| {
        study
            .main
            .difference(EMS, module)
            .is_none_or(|difference| difference.compare_to(0.0) != Relation::Above)
    };
    let unclear: Vec<&str> =
        averages[1..].iter().map(|average| average.module.as_str()).filter(is_unclear).collect();
    match unclear[..] {
        [] => found.judged(true, "significantly above each of the others"),
        _ => found.judged(false, format!("highest, but not significantly above {}", unclear.join(", "))),
    }
}

/// The difference in N-AUC over the twelve tasks, seeds paired: its interval must lie above 0. If it includes both 0
/// and the paper's value, there is not enough data.
pub(crate) fn ems_above(study: &Study, other: &str) -> Judgement {
    let difference = study.main.difference(EMS, other);
    let found = difference.map_or_else(Found::nothing, |difference| {
        Found::new(format!("{difference:+}"), difference.size.to_string())
    });
    let missing = missing(study, &[EMS, other]);
    match difference {
        _ if !missing.is_none() => found.missing(&missing),
        Some(difference) if is_enough(&difference) => {
            let papers = papers_difference(other);
            match difference.compare_to(0.0) {
                Relation::Unclear if difference.compare_to(papers) != Relation::Below => {
                    found.not_enough(format!("the interval includes both 0 and the paper's {papers:+.3}"))
                }
                relation => found.above(relation, 0.0),
            }
        }
        _ => found.not_enough(not_shared(study)),
    }
}

/// TA-N-AUC of EMS minus that of another module, as printed in the paper.
fn papers_difference(other: &str) -> f64 {
    let of = |name: &str| MAIN_MODULES.iter().find(|module| module.0 == name).map_or(0.0, |module| module.1);
    of(EMS) - of(other)
}

/// Each module must be above the next one in the paper's order, by point estimates.
pub(crate) fn order_of_seven(study: &Study) -> Judgement {
    let (averages, found) = averages(study);
    if let Some(why) = whole_or_not_enough(study, &averages) {
        return found.not_enough(why);
    }
    let value = |name: &str| {
        averages.iter().find(|average| average.module == name).map(|average| average.ta_n_auc.value)
    };
    let is_wrong = |pair: &&[(&str, f64)]| value(pair[0].0) <= value(pair[1].0);
    let wrong: Vec<String> = MAIN_MODULES
        .windows(2)
        .filter(is_wrong)
        .map(|pair| format!("{} is not above {}", pair[0].0, pair[1].0))
        .collect();
    match wrong[..] {
        [] => found.judged(true, "all six neighbours are in order"),
        _ => found.judged(false, format!("{} of six neighbours: {}", wrong.len(), wrong.join(", "))),
    }
}

/// In decreasing order.
fn averages<'a>(study: &Study<'a>) -> (Vec<&'a ModuleAverage>, Found) {
    let mut averages: Vec<&ModuleAverage> = study.modules.main.averages.iter().collect();
    averages.sort_by(|a, b| b.ta_n_auc.value.total_cmp(&a.ta_n_auc.value));
    let Some(first) = averages.first() else { return (averages, Found::nothing()) };
    let text: Vec<String> =
        averages.iter().map(|average| format!("{} {}", average.module, average.ta_n_auc)).collect();
    let n = format!("{}, {}", count(averages.len(), "module"), first.ta_n_auc.size);
    (averages, Found::new(text.join(", "), n))
}

/// The reason why the seven cannot be compared; `None` if they can.
fn whole_or_not_enough(study: &Study, averages: &[&ModuleAverage]) -> Option<String> {
    let missing = missing(study, &MAIN_MODULES.map(|module| module.0));
    if !missing.is_none() {
        return Some(missing.to_string());
    }
    let is_whole =
        averages.len() == MAIN_MODULES.len() && averages.iter().all(|average| is_enough(&average.ta_n_auc));
    (!is_whole).then(|| not_shared(study))
}

fn is_enough(averaged: &PooledEstimate) -> bool {
    averaged.size.n_tasks == twelve_tasks().count() && averaged.size.fewest_seeds >= MIN_SEEDS
}

fn missing(study: &Study, modules: &[&str]) -> Missing {
    let mut missing = Missing::default();
    for task in twelve_tasks() {
        modules
            .iter()
            .for_each(|module| missing.need(study.n_seeds(module, task), format_args!("{module} on {task}")));
    }
    missing
}

/// For the case that all runs exist, but cannot be compared.
fn not_shared(study: &Study) -> String {
    match study.main.left_out.first() {
        Some(first) => format!("runs cannot be compared: {}: {}", first.what, first.why),
        None => format!("not all modules have the same {MIN_SEEDS} seeds on all twelve tasks"),
    }
}
