//! Learning rates beside each other: which one a module learns a task best with.

use crate::figure::Figure;
use crate::left_out::LeftOut;
use crate::record::Part;
use crate::run::{Run, keep_same_steps};
use serde::Serialize;
use std::collections::BTreeMap;

/// One module on one task, at several rates.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RateFindings {
    /// The module's name.
    pub module: String,
    /// The task's name.
    pub task: String,
    /// The paper's first, then from low to high.
    pub rates: Vec<RateArea>,
    /// The one with the largest area; of equal ones the smallest rate, and the paper's only where no other is as good.
    pub best: RateArea,
    /// The last evaluation's.
    pub n_steps: u64,
    /// Runs with other steps than the others.
    pub left_out: Vec<LeftOut>,
}

/// One rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RateArea {
    /// `None` for the paper's.
    pub learning_rate: Option<f64>,
    /// Mean reward along the curve, over seeds.
    pub area: Figure,
}

/// Of all modules and tasks that were run at another rate than the paper's.
pub(crate) fn rate_findings(runs: &[Run]) -> Vec<RateFindings> {
    let mut places: BTreeMap<(&str, &str), Vec<&Run>> = BTreeMap::new();
    for run in runs.iter().filter(|run| matches!(run.record.part, Part::Alone { .. })) {
        places.entry((&run.record.module, &run.record.task)).or_default().push(run);
    }
    places.into_iter().filter_map(|((module, task), runs)| of_place(module, task, runs)).collect()
}

fn of_place(module: &str, task: &str, mut runs: Vec<&Run>) -> Option<RateFindings> {
    let rate_of = |run: &Run| match run.record.part {
        Part::Alone { learning_rate } => learning_rate,
        Part::Second { .. } => None,
    };
    runs.iter().find_map(|run| rate_of(run))?;
    let mut left_out = Vec::new();
    keep_same_steps(&mut runs, &mut left_out);
    // Bits of positive numbers are in their order.
    let mut areas: BTreeMap<Option<u64>, Vec<f64>> = BTreeMap::new();
    for run in &runs {
        areas.entry(rate_of(run).map(f64::to_bits)).or_default().extend(run.area());
    }
    let rate = |(rate, areas): (Option<u64>, Vec<f64>)| {
        Some(RateArea { learning_rate: rate.map(f64::from_bits), area: Figure::of(&areas)? })
    };
    let rates: Vec<RateArea> = areas.into_iter().filter_map(rate).collect();
    let swept = rates.iter().filter(|rate| rate.learning_rate.is_some());
    let papers = rates.iter().filter(|rate| rate.learning_rate.is_none());
    // The first of equals.
    let best = swept
        .chain(papers)
        .copied()
        .reduce(|best, rate| if rate.area.value > best.area.value { rate } else { best })?;
    let n_steps = runs.first().map_or(0, |run| run.last_step());
    Some(RateFindings { module: module.to_owned(), task: task.to_owned(), rates, best, n_steps, left_out })
}
