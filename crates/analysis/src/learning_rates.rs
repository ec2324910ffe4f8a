//! Compares learning rates: the best one for each module and task.

use crate::left_out::LeftOut;
use crate::record::{RunKind, RunRecord};
use crate::run::{Run, keep_same_steps};
use crate::statistics::Estimate;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// One module on one task, at several rates.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RateFindings {
    pub module: String,
    pub task: String,
    /// The preset's rate first, then in increasing order.
    pub rates: Vec<RateArea>,
    /// Of the rates with the fewest failed or missing seeds, the one with the largest area: a rate at which some seeds
    /// diverge is not a good one, however well the others learn. Of equal areas the smallest rate is taken, and the
    /// preset's rate last. `None` if all seeds of all rates failed.
    pub best: Option<RateArea>,
    pub n_steps: u64,
    /// Runs that were evaluated at other steps than the rest.
    pub left_out: Vec<LeftOut>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RateArea {
    /// `None` for the paper's rate.
    pub learning_rate: Option<f64>,
    /// Mean reward along the curve, over the seeds that finished; `None` if none did.
    pub area: Option<Estimate>,
    /// Number of seeds whose runs stopped early, for instance because they diverged.
    pub n_failed: usize,
    /// Number of seeds that other rates have and whose runs at this rate are missing or excluded.
    pub n_missing: usize,
}

#[derive(Default)]
struct Place<'r, 'a> {
    runs: Vec<&'r Run<'a>>,
    failed: Vec<&'r RunRecord>,
}

/// Findings for all modules and tasks that were run at another rate than the paper's.
pub(crate) fn rate_findings(runs: &[Run], failed: &[&RunRecord]) -> Vec<RateFindings> {
    let is_alone = |record: &RunRecord| record.kind == RunKind::SingleTask;
    let mut places: BTreeMap<(&str, &str), Place> = BTreeMap::new();
    for run in runs.iter().filter(|run| is_alone(run.record)) {
        places.entry((&run.record.module, &run.record.task)).or_default().runs.push(run);
    }
    for record in failed.iter().filter(|record| is_alone(record)) {
        places.entry((&record.module, &record.task)).or_default().failed.push(record);
    }
    places.into_iter().filter_map(|((module, task), there)| of_place(module, task, there)).collect()
}

/// The rate's bits; for positive numbers they are in the same order as the numbers.
fn rate_of(record: &RunRecord) -> Option<u64> {
    record.learning_rate.map(f64::to_bits)
}

fn of_place(module: &str, task: &str, there: Place) -> Option<RateFindings> {
    let Place { mut runs, failed } = there;
    let all = || runs.iter().map(|run| run.record).chain(failed.iter().copied());
    all().find_map(rate_of)?;
    let seeds: BTreeSet<u64> = all().map(|record| record.seed).collect();
    let all_rates: BTreeSet<Option<u64>> = all().map(rate_of).collect();
    let mut left_out = Vec::new();
    keep_same_steps(&mut runs, &mut left_out);
    let of_rate = |rate: Option<u64>| {
        let learned = || runs.iter().filter(|run| rate_of(run.record) == rate);
        let areas: Vec<f64> = learned().filter_map(|run| run.area()).collect();
        let n_failed = failed.iter().filter(|record| rate_of(record) == rate).count();
        RateArea {
            learning_rate: rate.map(f64::from_bits),
            area: Estimate::of(&areas),
            n_failed,
            n_missing: seeds.len().saturating_sub(areas.len() + n_failed),
        }
    };
    let rates: Vec<RateArea> = all_rates.into_iter().map(of_rate).collect();
    let swept = rates.iter().filter(|rate| rate.learning_rate.is_some());
    let papers = rates.iter().filter(|rate| rate.learning_rate.is_none());
    // Of equal areas, the first.
    let best = swept
        .chain(papers)
        .copied()
        .filter(|rate| rate.area.is_some())
        .reduce(|best, rate| if rate.is_better_than(&best) { rate } else { best });
    let n_steps = runs.first().map_or(0, |run| run.last_step());
    Some(RateFindings { module: module.to_owned(), task: task.to_owned(), rates, best, n_steps, left_out })
}

impl RateArea {
    fn is_better_than(&self, other: &Self) -> bool {
        let n_lost = |rate: &Self| rate.n_failed + rate.n_missing;
        let area = |rate: &Self| rate.area.map(|area| area.value);
        (n_lost(other), area(self)) > (n_lost(self), area(other))
    }
}
