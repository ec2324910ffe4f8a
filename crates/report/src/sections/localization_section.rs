//! Localization: the IoU of modules and baselines.

use crate::sections::colours::Styles;
use crate::sections::tables::{CLIPPING_NOTE, Possible, ends_of, mark};
use crate::study::intervals::{IntervalGroup, IntervalRow, Intervals, Mark};
use crate::study::study_page::StudySection;
use crate::study::table::Columns;
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
        reference: Some((0.4, "0.4".into())),
        groups,
        ..Intervals::default()
    }
    .figure();
    let of_modules = found.modules.iter().map(|module| {
        let ends = ends_of(&module.iou, Possible::SHARE);
        (&module.module, (module.iou.value, ends), module.iou.n, module.n_steps)
    });
    let of_baselines = found
        .baselines
        .iter()
        .map(|baseline| (&baseline.name, (baseline.score, baseline.interval), baseline.n, 0));
    let rows: Vec<_> = of_modules.chain(of_baselines).collect();
    let table = Columns::of(&rows)
        .text("method", "method", |row| row.0.clone())
        .value_and_ends("iou", "IoU", |row| Some(row.1))
        .count("n", "n", |row| row.2 as u64)
        .count("steps", "steps", |row| row.3)
        .table(
            format!("iou-{preset}"),
            format!("IoU, preset {preset}"),
            format!(
                "n counts seeds of modules, and screens of baselines: 95 % intervals are Student's over the former, bootstrapped over the \
                 latter. {CLIPPING_NOTE}"
            ),
        );
    Some(StudySection {
        id: format!("localization-{preset}"),
        title: format!("Localization, preset {preset}"),
        text: "Two touches span a box; the second earns its overlap (IoU) with the object's.".into(),
        figures: vec![figure],
        pictures: Vec::new(),
        tables: vec![table],
    })
}
