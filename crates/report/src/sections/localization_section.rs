//! Localization: the IoU of modules and baselines.

use crate::sections::colours::Styles;
use crate::sections::tables::{CLIPPING_NOTE, Possible, figure_cells, figure_columns, mark};
use crate::study::intervals::{IntervalGroup, IntervalRow, Intervals, Mark};
use crate::study::study_page::StudySection;
use crate::study::table::{Cell, Table, TableColumn};
use touchstream_analysis::LocalizationFindings;

/// A figure and tables of the IoU of modules and of baselines without reward maps.
pub fn localization(preset: &str, found: &LocalizationFindings, styles: &Styles) -> Option<StudySection> {
    if found.modules.is_empty() {
        return None;
    }
    let modules = found.modules.iter().map(|module| IntervalRow {
        label: module.module.clone(),
        estimates: vec![Mark {
            series_idx: Some(styles.of(&module.module)),
            seeds: module.seeds.values().copied().collect(),
            ..mark(&module.iou, Possible::SHARE)
        }],
    });
    let baselines = found.baselines.iter().map(|baseline| IntervalRow {
        label: baseline.name.clone(),
        estimates: vec![Mark {
            value: Some(baseline.score),
            interval: baseline.interval,
            paper: (baseline.name == "svr").then_some(0.369),
            n: baseline.n as u64,
            ..Mark::default()
        }],
    });
    let mut groups =
        vec![IntervalGroup { heading: "Reward maps (n: seeds)".into(), rows: modules.collect() }];
    if !found.baselines.is_empty() {
        groups.push(IntervalGroup { heading: "Without (n: screens)".into(), rows: baselines.collect() });
    }
    let figure = Intervals {
        id: format!("iou-{preset}"),
        title: format!("Localization, preset {preset}"),
        caption:
            "Mean IoU on validation screens at the end of learning. 95 % intervals: of modules Student's over seeds, of the others bootstrapped \
             over screens. Diamond: the paper's SVR."
                .into(),
        x_label: "IoU".into(),
        range: None,
        reference: Some((0.4, "0.4".into())),
        series: Vec::new(),
        groups,
    }
    .figure();
    let mut columns = vec![TableColumn::text("method", "method")];
    columns.extend(figure_columns("iou", "IoU"));
    columns.extend([TableColumn::count("n", "n"), TableColumn::count("steps", "steps")]);
    let mut rows = Vec::new();
    for module in &found.modules {
        let mut cells = vec![Cell::Text(module.module.clone())];
        cells.extend(figure_cells(Some(&module.iou), Possible::SHARE));
        cells.extend([Cell::Count(module.iou.n as u64), Cell::Count(module.n_steps)]);
        rows.push(cells);
    }
    for baseline in &found.baselines {
        let (low, high) = baseline.interval.unzip();
        rows.push(vec![
            Cell::Text(baseline.name.clone()),
            Cell::Number(Some(baseline.score)),
            Cell::Number(low),
            Cell::Number(high),
            Cell::Count(baseline.n as u64),
            Cell::Count(0),
        ]);
    }
    Some(StudySection {
        id: format!("localization-{preset}"),
        title: format!("Localization, preset {preset}"),
        text: "Two touches span a box; the second earns its overlap (IoU) with the object's.".into(),
        figures: vec![figure],
        pictures: Vec::new(),
        tables: vec![Table {
            id: format!("iou-{preset}"),
            title: format!("IoU, preset {preset}"),
            note: format!(
                "n counts seeds of modules, and screens of baselines: 95 % intervals are Student's over the former, bootstrapped over the \
                 latter. {CLIPPING_NOTE}"
            ),
            columns,
            rows,
        }],
    })
}
