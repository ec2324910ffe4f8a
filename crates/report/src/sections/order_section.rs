//! The order of learning: touching any object, and touching the right one.

use crate::sections::colours::Styles;
use crate::sections::single_task_section::{band_points, rank_of_task};
use crate::sections::tables::{CLIPPING_NOTE, Possible, mark, n_words};
use crate::study::figure::Figure;
use crate::study::intervals::{IntervalGroup, IntervalRow, Intervals, Mark};
use crate::study::panels::{Panel, PanelCurve, Panels};
use crate::study::study_page::StudySection;
use crate::study::table::Columns;
use touchstream_analysis::{Estimate, MAIN_MODULES, SceneFindings};

/// With more panels the figure is unreadable; other modules are shown in the figure of delays only.
const MOST_PANELS: usize = 12;
/// Maximum number of rows of a figure; longer results are in the table only.
const MOST_ROWS: usize = 100;
/// The style index of a dashed line in the first colour.
const DASHED: usize = 7;

/// The section on which is learned first: touching any object, or touching the right one.
pub fn section(preset: &str, found: &[SceneFindings], styles: &Styles) -> Option<StudySection> {
    let mut found: Vec<&SceneFindings> = found.iter().collect();
    found.sort_by_key(|one| (styles.of(&one.module), rank_of_task(&one.task)));
    if found.is_empty() {
        return None;
    }
    let table = Columns::of(&found)
        .text("task", "task", |one| one.task.clone())
        .text("module", "module", |one| one.module.clone())
        .counted("on_object_halfway", "touches things halfway, step", Possible::STEP, |one| one.on_object_halfway)
        .counted("meaning_halfway", "the right one halfway, step", Possible::STEP, |one| one.meaning_halfway)
        .counted("delay", "steps between, each seed's own", Possible::ANYTHING, |one| delay(one))
        .table(
            format!("order-{preset}"),
            format!("Halfway steps, preset {preset}"),
            format!(
                "Halfway: the first evaluation at which a curve is halfway from its first to its final value. The right one: reward of \
                 touches that are on any thing at all. Each n counts the seeds that rose: others have no halfway step. Student's 95 % \
                 intervals over these seeds. {CLIPPING_NOTE}"
            ),
        );
    Some(StudySection {
        id: format!("order-{preset}"),
        title: format!("In which order it is learned, preset {preset}"),
        text: "On match screens: the share of touches on any object or button at all, and the reward. What is learned first rises first."
            .into(),
        figures: vec![curves(preset, &found, styles), delays(preset, &found, styles)],
        pictures: Vec::new(),
        tables: vec![table],
    })
}

/// Steps from half of the rise in touches on any object to half of the rise in reward, over the seeds that have both.
fn delay(one: &SceneFindings) -> Option<Estimate> {
    let of_seed = one.seeds.iter().filter_map(|seed| Some(seed.meaning? as f64 - seed.on_object? as f64));
    Estimate::of(&of_seed.collect::<Vec<f64>>())
}

/// EMS on all its tasks first, then other modules as long as all of their tasks fit.
fn shown_first<'a>(found: &[&'a SceneFindings]) -> Vec<&'a SceneFindings> {
    let mut shown: Vec<&SceneFindings> = Vec::new();
    for of_module in found.chunk_by(|one, other| one.module == other.module) {
        if !shown.is_empty() && shown.len() + of_module.len() > MOST_PANELS {
            break;
        }
        shown.extend(of_module);
    }
    shown
}

fn curves(preset: &str, found: &[&SceneFindings], styles: &Styles) -> Figure {
    let shown = shown_first(found);
    let n_modules = shown.chunk_by(|one, other| one.module == other.module).count();
    let panel = |one: &&SceneFindings| {
        let name_idx = styles.of(&one.module);
        let line = |name_idx, points| PanelCurve { name_idx, points, ..PanelCurve::default() };
        Panel {
            title: if n_modules > 1 { format!("{}: {}", one.module, one.task) } else { one.task.clone() },
            curves: vec![
                line(name_idx, band_points(&one.reward, true)),
                line(name_idx + DASHED, band_points(&one.on_object, true)),
            ],
            ..Panel::default()
        }
    };
    let mut line_names = vec![String::new(); styles.names().len() + DASHED];
    for one in &shown {
        let idx = styles.of(&one.module);
        line_names[idx] = format!("{}: reward", one.module);
        line_names[idx + DASHED] = format!("{}: on any object or button", one.module);
    }
    let n_left = found.len() - shown.len();
    let left = match n_left {
        0 => String::new(),
        n => format!(" {n} more pairs of module and task are in the next figure and the table."),
    };
    Panels {
        id: format!("order-{preset}"),
        title: format!("Things first, then which, preset {preset}"),
        caption: format!(
            "Validation reward, and the share of touches on any object or button; 95 % bootstrap bands over seeds, {}.{left}",
            n_words(shown.iter().map(|one| one.reward.n))
        ),
        x_label: "steps".into(),
        y_label: "share".into(),
        line_names,
        panels: shown.iter().map(panel).collect(),
        ..Panels::default()
    }
    .figure()
}

fn delays(preset: &str, found: &[&SceneFindings], styles: &Styles) -> Figure {
    let is_main = |one: &SceneFindings| MAIN_MODULES.iter().any(|(module, _)| *module == one.module);
    let mut shown: Vec<&SceneFindings> = found.to_vec();
    if shown.len() > MOST_ROWS {
        shown.retain(|one| is_main(one));
    }
    // Groups the modules of a task.
    shown.sort_by_key(|one| (rank_of_task(&one.task), one.task.clone()));
    let row = |one: &&SceneFindings| {
        let delay = delay(one);
        let of_seed = one.seeds.iter().filter_map(|seed| Some(seed.meaning? as f64 - seed.on_object? as f64));
        IntervalRow {
            label: one.module.clone(),
            estimates: vec![Mark {
                series_idx: Some(styles.of(&one.module)),
                seeds: of_seed.collect(),
                ..delay.map_or_else(Mark::default, |delay| mark(&delay, Possible::ANYTHING))
            }],
        }
    };
    let groups = shown.chunk_by(|one, other| one.task == other.task);
    let left = match found.len() - shown.len() {
        0 => String::new(),
        n => format!(" {n} more pairs of module and task are in the table."),
    };
    Intervals {
        id: format!("order-delays-{preset}"),
        title: format!("From things to the right one, preset {preset}"),
        caption: format!(
            "Steps from touching things halfway to touching the right one halfway; above 0, things come first. Student's 95 % intervals over \
             the n seeds in which both rose.{left}"
        ),
        x_label: "steps between".into(),
        reference: Some((0.0, "at once".into())),
        groups: groups
            .map(|of_task| IntervalGroup {
                heading: of_task[0].task.clone(),
                rows: of_task.iter().map(row).collect(),
            })
            .collect(),
        ..Intervals::default()
    }
    .figure()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sections::colours::Colours;
    use touchstream_analysis::{Point, RunKind, RunRecord, findings};

    fn record(module: &str, task: &str, seed: u64, rewards: [f64; 3]) -> RunRecord {
        let point = |(step, reward): (u64, f64)| Point {
            step: 100 * step,
            reward,
            train_reward: None,
            on_object: Some(if step == 0 { 0.5 } else { 1.0 }),
            reuse: None,
        };
        RunRecord {
            failure: None,
            preset: "default".into(),
            module: module.into(),
            task: task.into(),
            seed,
            kind: RunKind::SingleTask,
            learning_rate: None,
            base_curve: Vec::new(),
            points: (0..).zip(rewards).map(point).collect(),
        }
    }

    const TASKS: [&str; 8] = [
        "mts-2way-stationary",
        "mts-2way-horiz-flip",
        "mts-2way-vert-motion",
        "mts-2way-vert-motion-horiz-flip",
        "mts-4way-2shown",
        "mts-4way-2shown-vert-motion",
        "mts-4way-4shown-stationary",
        "mts-4way-4shown-permuted",
    ];

    #[test]
    fn ems_is_shown_on_all_tasks_and_others_are_counted() {
        let modules = ["no-symm", "ems", "conv-ems", "none-relu-small"];
        let records: Vec<RunRecord> = modules
            .iter()
            .flat_map(|module| TASKS.map(|task| record(module, task, 1, [0.1, 0.1, 0.9])))
            .collect();
        let found = findings(&records, &[]);
        let colours = Colours::of(&found.presets);
        let section = section("default", &found.presets[0].scenes, &colours.modules).unwrap();
        let [curves, delays] = &section.figures[..] else { panic!("two figures") };
        for task in TASKS {
            assert!(curves.svg.contains(&format!(">{task}</text>")), "{task}");
        }
        assert_eq!(curves.svg.matches("class=\"bold\"").count(), 8, "EMS alone");
        assert!(
            curves.caption.contains("n = 1 seed.") && curves.caption.contains("24 more"),
            "{}",
            curves.caption
        );
        for module in modules {
            assert_eq!(delays.svg.matches(&format!(">{module}</text>")).count(), 8, "{module}");
        }
    }

    #[test]
    fn each_mean_says_of_how_many_seeds_it_is() {
        // In one of three seeds, touches on the right object do not become more frequent.
        let records = [
            record("ems", TASKS[0], 1, [0.1, 0.1, 0.9]),
            record("ems", TASKS[0], 2, [0.1, 0.9, 0.9]),
            record("ems", TASKS[0], 3, [0.4, 0.8, 0.8]),
        ];
        let found = findings(&records, &[]);
        let colours = Colours::of(&found.presets);
        let section = section("default", &found.presets[0].scenes, &colours.modules).unwrap();
        let csv = section.tables[0].csv();
        let cells: Vec<&str> = csv.lines().nth(1).unwrap().split(',').collect();
        // Any object: 100 in each seed. Right object: 200 and 100; the interval is clipped at 0.
        assert_eq!(cells[2..6], ["100.0", "100.0", "100.0", "3"]);
        assert_eq!((cells[6], cells[7], cells[9]), ("150.0", "0.0", "2"));
        assert_eq!((cells[10], cells[13]), ("50.0", "2"));
    }
}
