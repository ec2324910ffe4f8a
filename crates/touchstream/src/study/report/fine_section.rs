//! Fine touches: boxes beside baselines, and scenes with the order of learning.

use crate::study::report::alone_section::band_points;
use crate::study::report::tables::{ends, figure_cells, figure_columns};
use touchstream_findings::{LocalizationFindings, SceneFindings};
use touchstream_report::study::figure::Figure;
use touchstream_report::study::intervals::{Estimate, IntervalGroup, IntervalRow, Intervals};
use touchstream_report::study::panels::{Panel, PanelCurve, Panels, XRange};
use touchstream_report::study::study_page::StudySection;
use touchstream_report::study::table::{Cell, Table, TableColumn};

/// IoU of modules, beside what needs no reward maps.
pub fn localization(preset: &str, found: &LocalizationFindings) -> Option<StudySection> {
    if found.modules.is_empty() {
        return None;
    }
    let modules = found.modules.iter().map(|module| IntervalRow {
        label: module.module.clone(),
        estimates: vec![Estimate {
            series_idx: 0,
            value: Some(module.iou.value),
            interval: ends(module.iou.interval),
            seeds: module.seeds.values().copied().collect(),
            paper: None,
            n: module.iou.n as u64,
        }],
    });
    let baselines = found.baselines.iter().map(|baseline| IntervalRow {
        label: baseline.name.clone(),
        estimates: vec![Estimate {
            series_idx: 0,
            value: Some(baseline.score),
            interval: baseline.interval,
            seeds: Vec::new(),
            paper: (baseline.name == "svr").then_some(0.369),
            n: baseline.n as u64,
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
            "Mean IoU on validation screens at the end of learning, 95 % intervals. Diamond: the paper's SVR."
                .into(),
        x_label: "IoU".into(),
        range: None,
        reference: Some((0.4, "0.4".into())),
        series: vec!["IoU".into()],
        groups,
    }
    .figure();
    let mut columns = vec![TableColumn::text("method", "method")];
    columns.extend(figure_columns("iou", "IoU"));
    columns.extend([TableColumn::count("n", "n"), TableColumn::count("steps", "steps")]);
    let mut rows = Vec::new();
    for module in &found.modules {
        let mut cells = vec![Cell::Text(module.module.clone())];
        cells.extend(figure_cells(Some(&module.iou)));
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
            note: "n counts seeds of modules, and screens of baselines.".into(),
            columns,
            rows,
        }],
    })
}

/// What comes first: touching things at all, or touching the right one.
pub fn order_of_learning(preset: &str, found: &[SceneFindings]) -> Option<StudySection> {
    if found.is_empty() {
        return None;
    }
    let mut columns = vec![TableColumn::text("task", "task"), TableColumn::text("module", "module")];
    columns.extend(figure_columns("on_object_halfway", "touches things halfway, step"));
    columns.extend(figure_columns("meaning_halfway", "the right one halfway, step"));
    columns.push(TableColumn::count("n", "n"));
    let row = |one: &SceneFindings| {
        let mut cells = vec![Cell::Text(one.task.clone()), Cell::Text(one.module.clone())];
        cells.extend(figure_cells(one.on_object_halfway.as_ref()));
        cells.extend(figure_cells(one.meaning_halfway.as_ref()));
        // Seeds that rose: others have no halfway step.
        let n = [&one.on_object_halfway, &one.meaning_halfway]
            .map(|figure| figure.as_ref().map_or(0, |figure| figure.n));
        cells.push(Cell::Count(n[0].min(n[1]) as u64));
        cells
    };
    Some(StudySection {
        id: format!("order-{preset}"),
        title: format!("In which order it is learned, preset {preset}"),
        text: "On match screens: the share of touches on any object or button at all, and the reward. What is learned first rises first."
            .into(),
        figures: vec![order_figure(preset, found)],
        pictures: Vec::new(),
        tables: vec![Table {
            id: format!("order-{preset}"),
            title: format!("Halfway steps, preset {preset}"),
            note: "Halfway: the first evaluation at which a curve is halfway from its first to its final value. The right one: reward of \
                   touches that are on any thing at all. Student's 95 % intervals over seeds."
                .into(),
            columns,
            rows: found.iter().map(row).collect(),
        }],
    })
}

fn order_figure(preset: &str, found: &[SceneFindings]) -> Figure {
    let panel = |one: &SceneFindings| Panel {
        title: format!("{}: {}", one.module, one.task),
        chance: None,
        horizon: None,
        curves: vec![
            PanelCurve { name_idx: 0, points: band_points(&one.reward, true), seeds: Vec::new() },
            PanelCurve { name_idx: 1, points: band_points(&one.on_object, true), seeds: Vec::new() },
        ],
    };
    Panels {
        id: format!("order-{preset}"),
        title: format!("Things first, then which, preset {preset}"),
        caption: "Validation reward, and the share of touches on any object or button; 95 % bootstrap bands over seeds."
            .into(),
        x_label: "steps".into(),
        y_label: "share".into(),
        x_range: XRange::Own,
        y_range: (0.0, 1.0),
        line_names: vec!["reward".into(), "on any object or button".into()],
        panels: found.iter().take(24).map(panel).collect(),
    }
    .figure()
}
