//! Which learning rate suits which module on which task.

use crate::study::report::tables::{figure_cells, figure_columns, left_out_table};
use touchstream_findings::{RateArea, RateFindings};
use touchstream_report::study::study_page::StudySection;
use touchstream_report::study::table::{Cell, Table, TableColumn};

/// The section of learning rates, under a preset.
pub fn section(preset: &str, found: &[RateFindings]) -> Option<StudySection> {
    // Runs at the paper's own rate alone have nothing to choose from.
    let found: Vec<&RateFindings> =
        found.iter().filter(|one| one.rates.iter().any(|rate| rate.learning_rate.is_some())).collect();
    if found.is_empty() {
        return None;
    }
    let mut columns = vec![
        TableColumn::text("module", "module"),
        TableColumn::text("task", "task"),
        TableColumn::number("learning_rate", "learning rate"),
    ];
    columns.extend(figure_columns("area", "area"));
    columns.extend([
        TableColumn::count("n", "n"),
        TableColumn::count("n_failed", "diverged"),
        TableColumn::count("n_missing", "missing"),
        TableColumn::count("n_steps", "steps"),
        TableColumn::truth("is_best", "chosen"),
    ]);
    let mut rows = Vec::new();
    for one in &found {
        for rate in &one.rates {
            let RateArea { learning_rate, area, n_failed, n_missing } = rate;
            let mut cells = vec![
                Cell::Text(one.module.clone()),
                Cell::Text(one.task.clone()),
                Cell::Number(*learning_rate),
            ];
            cells.extend(figure_cells(area.as_ref()));
            let n_learned = area.map_or(0, |area| area.n);
            cells.extend([n_learned, *n_failed, *n_missing].map(|n| Cell::Count(n as u64)));
            cells.push(Cell::Count(one.n_steps));
            cells.push(Cell::Truth(one.best.is_some_and(|best| best.learning_rate == *learning_rate)));
            rows.push(cells);
        }
    }
    let left_out: Vec<_> = found.iter().flat_map(|one| one.left_out.clone()).collect();
    let mut tables = vec![Table {
        id: format!("learning-rates-{preset}"),
        title: format!("Learning rates, preset {preset}"),
        note: "Chosen: of the rates with the fewest seeds that diverged or are missing, the one with the largest mean area under the \
               curve; of equal ones the smallest rate."
            .into(),
        columns,
        rows,
    }];
    tables.extend(left_out_table(&format!("left-out-rates-{preset}"), &left_out));
    Some(StudySection {
        id: format!("learning-rates-{preset}"),
        title: format!("Learning rates, preset {preset}"),
        text: "Judged on every second validation picture; `touchstream study modules --rates DIR` takes the chosen rates and judges them \
               on the others."
            .into(),
        figures: Vec::new(),
        pictures: Vec::new(),
        tables,
    })
}
