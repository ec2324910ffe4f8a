//! Learning rates: the best one for each module and task, and the area lost with the paper's.

use crate::sections::colours::Styles;
use crate::sections::single_task_section::rank_of_task;
use crate::sections::tables::{CLIPPING_NOTE, Possible, ends_of, left_out_table, n_words};
use crate::study::band_line::BandPoint;
use crate::study::figure::Figure;
use crate::study::panels::{Panel, PanelCurve, Panels};
use crate::study::study_page::StudySection;
use crate::study::table::{Columns, Table};
use std::collections::BTreeSet;
use std::ops::Deref;
use touchstream_analysis::{RateArea, RateFindings};

/// A figure with more lines has no bands.
const MAX_BANDS: usize = 7;
/// The unit of learning rates in the figure.
const UNIT: f64 = 1e-4;

/// The section on learning rates under a preset; `is_choice` if they were evaluated on the half of the validation
/// images that is reserved for choosing.
pub fn section(
    preset: &str,
    found: &[RateFindings],
    styles: &Styles,
    is_choice: bool,
    papers_rate: impl Fn(&str, &str) -> Option<f64>,
) -> Option<StudySection> {
    // Excludes modules and tasks that were run at the paper's rate only.
    let is_swept = |one: &&RateFindings| one.rates.iter().any(|rate| rate.learning_rate.is_some());
    let compared = |found| Compared { found, papers: papers_rate(&found.module, &found.task) };
    let mut found: Vec<Compared> = found.iter().filter(is_swept).map(compared).collect();
    if found.is_empty() {
        return None;
    }
    found.sort_by_key(|one| (rank_of_task(&one.task), one.task.clone(), styles.of(&one.module)));
    let left_out: Vec<_> = found.iter().flat_map(|one| one.left_out.clone()).collect();
    let mut tables = vec![chosen_table(preset, &found), area_table(preset, &found)];
    tables.extend(left_out_table(&format!("left-out-rates-{preset}"), &left_out));
    Some(StudySection {
        id: format!("learning-rates-{preset}"),
        title: format!("Learning rates, preset {preset}"),
        text: if is_choice {
            "Evaluated on every second validation image; `touchstream study modules --rates DIR` uses the chosen rates and evaluates \
             them on the others."
        } else {
            "Evaluated on all validation images, so none is left to evaluate the chosen rates on: `touchstream study \
             learning-rates` chooses them on every second one."
        }
        .into(),
        figures: vec![areas(preset, &found, styles)],
        pictures: Vec::new(),
        tables,
    })
}

/// The rates of a module on a task, and the rate that the paper prints for them, if any.
struct Compared<'a> {
    found: &'a RateFindings,
    papers: Option<f64>,
}

impl Deref for Compared<'_> {
    type Target = RateFindings;

    fn deref(&self) -> &RateFindings {
        self.found
    }
}

/// The result at the paper's rate, if it was run.
fn at_papers_rate<'a>(one: &Compared<'a>) -> Option<&'a RateArea> {
    let papers = one.papers;
    let is_papers = |rate: &&RateArea| match (rate.learning_rate, papers) {
        (Some(rate), Some(papers)) => (rate / papers - 1.0).abs() < 1e-9,
        (None, _) => true,
        (Some(_), None) => false,
    };
    one.found.rates.iter().find(is_papers)
}

/// The rate as a number, or the paper's printed rate.
fn rate_of(one: &Compared, rate: &RateArea) -> Option<f64> {
    rate.learning_rate.or(one.papers)
}

fn areas(preset: &str, found: &[Compared], styles: &Styles) -> Figure {
    let modules: BTreeSet<&str> = found.iter().map(|one| one.module.as_str()).collect();
    let has_bands = modules.len() <= MAX_BANDS;
    let curve = |one: &Compared| {
        let point = |rate: &RateArea| {
            let area = rate.area.as_ref()?;
            let y = area.value;
            let interval = ends_of(area, Possible::SHARE).filter(|_| has_bands);
            let (lower, upper) = interval.unwrap_or((y, y));
            Some(BandPoint { x: rate_of(one, rate)? / UNIT, y, lower, upper })
        };
        let mut points: Vec<BandPoint> = one.rates.iter().filter_map(point).collect();
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        let paper = at_papers_rate(one).and_then(|rate| Some((rate_of(one, rate)? / UNIT, rate.area?.value)));
        PanelCurve { name_idx: styles.of(&one.module), points, seeds: Vec::new(), paper }
    };
    let panel = |of_task: &[Compared]| Panel {
        title: of_task[0].task.clone(),
        curves: of_task.iter().map(curve).collect(),
        ..Panel::default()
    };
    let bands = if has_bands { "bands are Student's 95 % intervals over seeds" } else { "means over seeds" };
    let areas = found.iter().flat_map(|one| &one.rates).filter_map(|rate| rate.area);
    let n = n_words(areas.map(|area| area.n));
    Panels {
        id: format!("areas-by-rate-{preset}"),
        title: format!("Area by learning rate, preset {preset}"),
        caption: format!(
            "Mean validation reward along the curve at each learning rate; {bands}, {n}. Diamonds: the paper's rate, where it was run."
        ),
        x_label: "learning rate, in 0.0001".into(),
        y_label: "area".into(),
        line_names: styles.names(),
        panels: found.chunk_by(|one, other| one.task == other.task).map(panel).collect(),
        ..Panels::default()
    }
    .figure()
}

fn chosen_table(preset: &str, found: &[Compared]) -> Table {
    let chosen = |one: &Compared| one.best.and_then(|best| best.area);
    let at_papers = |one: &Compared| at_papers_rate(one).and_then(|rate| rate.area);
    Columns::of(found)
        .text("module", "module", |one| one.module.clone())
        .text("task", "task", |one| one.task.clone())
        .number("chosen_rate", "chosen rate", |one| one.best.and_then(|best| rate_of(one, &best)))
        .number("paper_rate", "the paper's rate", |one| one.papers)
        .estimate("chosen_area", "area at the chosen", Possible::SHARE, chosen)
        .estimate("paper_area", "area at the paper's", Possible::SHARE, at_papers)
        .number("behind", "the paper's is behind by", |one| Some(chosen(one)?.value - at_papers(one)?.value))
        .count("n", "n", |one| chosen(one).map_or(0, |area| area.n) as u64)
        .count("n_steps", "steps", |one| one.n_steps)
        .table(
            format!("chosen-rates-{preset}"),
            format!("Chosen rates and the paper's, preset {preset}"),
            format!(
                "Chosen: of the rates with the fewest seeds that diverged or are missing, the one with the largest mean area under the curve. What is chosen is the best of several, so the \
                 difference flatters it. Student's 95 % intervals over n seeds; no area where the paper's rate was not run. {CLIPPING_NOTE}"
            ),
        )
}

fn area_table(preset: &str, found: &[Compared]) -> Table {
    let rows: Vec<(&Compared, &RateArea)> =
        found.iter().flat_map(|one| one.rates.iter().map(move |rate| (one, rate))).collect();
    let is_papers = |one: &Compared, rate: &RateArea| {
        at_papers_rate(one).is_some_and(|papers| papers.learning_rate == rate.learning_rate)
    };
    Columns::of(&rows)
        .text("module", "module", |(one, _)| one.module.clone())
        .text("task", "task", |(one, _)| one.task.clone())
        .number("learning_rate", "learning rate", |(one, rate)| rate_of(one, rate))
        .estimate("area", "area", Possible::SHARE, |(_, rate)| rate.area)
        .count("n", "n", |(_, rate)| rate.area.map_or(0, |area| area.n) as u64)
        .count("n_failed", "diverged", |(_, rate)| rate.n_failed as u64)
        .count("n_missing", "missing", |(_, rate)| rate.n_missing as u64)
        .count("n_steps", "steps", |(one, _)| one.n_steps)
        .truth("is_best", "chosen", |(one, rate)| {
            one.best.is_some_and(|best| best.learning_rate == rate.learning_rate)
        })
        .truth("is_paper", "the paper's", |(one, rate)| is_papers(one, rate))
        .table(
            format!("learning-rates-{preset}"),
            format!("Learning rates, preset {preset}"),
            format!(
                "Mean validation reward along the curve; Student's 95 % intervals over n seeds. {CLIPPING_NOTE} Chosen: of the rates with the fewest seeds \
                 that diverged or are missing, the one with the largest mean; of equal ones the smallest rate."
            ),
        )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sections::colours::Colours;
    use touchstream_analysis::{Point, RunKind, RunRecord, findings};

    #[test]
    fn the_papers_rate_stands_beside_the_chosen_one() {
        let record = |rate: f64, seed: u64, reward: f64| RunRecord {
            failure: None,
            preset: "default".into(),
            module: "ems".into(),
            task: "sr-2way".into(),
            seed,
            kind: RunKind::SingleTask,
            learning_rate: Some(rate),
            base_curve: Vec::new(),
            points: [0, 100]
                .map(|step| Point { step, reward, train_reward: None, on_object: None, reuse: None })
                .to_vec(),
        };
        let papers = 1e-3;
        let records =
            [record(papers, 1, 0.5), record(papers, 2, 0.5), record(1e-2, 1, 1.0), record(1e-2, 2, 0.5)];
        let found = findings(&records, &[]);
        let colours = Colours::of(&found.presets);
        let section =
            section("default", &found.presets[0].learning_rates, &colours.modules, true, |_, _| Some(papers))
                .unwrap();
        let csv = section.tables[0].csv();
        let cells: Vec<&str> = csv.lines().nth(1).unwrap().split(',').collect();
        assert_eq!(cells[2..4], ["0.01".to_owned(), format!("{papers:?}")]);
        // With two seeds the interval would extend beyond the possible rewards.
        assert_eq!((cells[4], cells[6], cells[7]), ("0.75", "1.0", "0.5"));
        assert_eq!((cells[10], cells[11]), ("0.25", "2"));
        // Once on the line, once in the legend.
        assert_eq!(section.figures[0].svg.matches("<path class=\"paper-value\"").count(), 2);
    }
}
