//! Modules on tasks: learning curves, normalized areas, final rewards.

use crate::sections::colours::Styles;
use crate::sections::tables::{CLIPPING_NOTE, Possible, ends, left_out_table, lines_words, n_words};
use crate::study::axis::extent;
use crate::study::band_line::BandPoint;
use crate::study::figure::Figure;
use crate::study::heat_table::HeatTable;
use crate::study::intervals::{IntervalGroup, IntervalRow, Intervals, Mark};
use crate::study::panels::{Panel, PanelCurve, Panels};
use crate::study::study_page::StudySection;
use crate::study::table::{Columns, Table};
use std::collections::BTreeSet;
use touchstream_analysis::{
    Comparison, MAIN_MODULES, MeanCurve, ModuleAverage, ModuleFindings, ModuleOnTask, NormalizedArea,
    ProfilePoint, TaskFindings, TaskHorizon,
};
use touchstream_env::task::{find_task, paper_tasks};

/// A figure with more lines has no bands, which would hide the lines.
const MAX_BANDS: usize = 7;
/// The same for the noisier curves in the small panels of tasks.
const MAX_BANDS_PER_TASK: usize = 4;

/// The section on modules under a preset.
pub fn section(preset: &str, found: &ModuleFindings, styles: &Styles) -> Option<StudySection> {
    if found.tasks.is_empty() {
        return None;
    }
    let found = &without_lone_modules(in_order_of_the_paper(found));
    let mut figures = vec![curves(preset, found, styles)];
    let mut tables = vec![final_rewards(preset, found)];
    if !found.all.tasks.is_empty() {
        figures.push(heat_table(preset, &found.all));
        tables.push(areas(preset, &found.all));
        tables.push(horizons(preset, &found.all));
        // There is no comparison with a single module.
        if found.all.averages.len() > 1 {
            figures.push(averages(preset, &found.all, styles));
            figures.push(profiles(preset, &found.all, styles));
            tables.push(average_table(preset, &found.all));
        }
        tables.extend(left_out_table(&format!("left-out-{preset}"), &found.all.left_out));
    }
    let left_out: Vec<_> = found.tasks.iter().flat_map(|task| task.left_out.clone()).collect();
    tables.extend(left_out_table(&format!("left-out-of-curves-{preset}"), &left_out));
    Some(StudySection {
        id: format!("modules-{preset}"),
        title: format!("Modules on tasks, preset {preset}"),
        text: "Validation reward while learning, by the run's own policy; on localization, the IoU. N-AUC: a \
               module's area under the curve up to the task's horizon, over that of the best module on the task, where there are at least \
               two; TA-N-AUC its mean over tasks. The horizon is the first evaluation by which more than half of the modules that learned \
               anything have reached 95 % of their own final reward."
            .into(),
        figures,
        pictures: Vec::new(),
        tables,
    })
}

/// The task's index in the paper; other tasks come after.
pub fn rank_of_task(task: &str) -> usize {
    paper_tasks().iter().position(|known| known.id() == task).unwrap_or(paper_tasks().len())
}

/// Sorts tasks in the paper's order, then others by name.
fn in_order_of_the_paper(found: &ModuleFindings) -> ModuleFindings {
    let rank = rank_of_task;
    let mut found = found.clone();
    found.tasks.sort_by_key(|task| rank(&task.task));
    let all = &mut found.all;
    let mut columns: Vec<usize> = (0..all.tasks.len()).collect();
    columns.sort_by_key(|&column| rank(&all.tasks[column].task));
    all.tasks = columns.iter().map(|&column| all.tasks[column].clone()).collect();
    for row in &mut all.n_auc {
        *row = columns.iter().map(|&column| row[column]).collect();
    }
    found
}

/// Removes tasks with a single module, which would be the best in any case.
fn without_lone_modules(mut found: ModuleFindings) -> ModuleFindings {
    let all = &mut found.all;
    let n_modules = |column: usize| all.n_auc.iter().filter(|row| row[column].is_some()).count();
    let kept: Vec<usize> = (0..all.tasks.len()).filter(|&column| n_modules(column) > 1).collect();
    all.tasks = kept.iter().map(|&column| all.tasks[column].clone()).collect();
    for row in &mut all.n_auc {
        *row = kept.iter().map(|&column| row[column]).collect();
    }
    let has_any: Vec<bool> = all.n_auc.iter().map(|row| row.iter().any(Option::is_some)).collect();
    let keep = |idx: usize| has_any[idx];
    all.modules =
        all.modules.drain(..).enumerate().filter(|(idx, _)| keep(*idx)).map(|(_, one)| one).collect();
    all.n_auc = all.n_auc.drain(..).enumerate().filter(|(idx, _)| keep(*idx)).map(|(_, row)| row).collect();
    found
}

fn n_methods(found: &ModuleFindings) -> usize {
    let modules = found.tasks.iter().flat_map(|task| &task.modules).map(|one| one.module.as_str());
    modules.collect::<BTreeSet<_>>().len()
}

/// The points of a line with its band, or without one.
pub fn band_points(curve: &MeanCurve, has_band: bool) -> Vec<BandPoint> {
    let point = |point: &touchstream_analysis::MeanPoint| {
        let (lower, upper) = ends(point.interval).filter(|_| has_band).unwrap_or((point.mean, point.mean));
        BandPoint { x: point.step as f64, y: point.mean, lower, upper }
    };
    curve.points.iter().map(point).collect()
}

fn curves(preset: &str, found: &ModuleFindings, styles: &Styles) -> Figure {
    let has_bands = n_methods(found) <= MAX_BANDS_PER_TASK;
    let panel = |task: &TaskFindings| {
        let curve = |module: &ModuleOnTask| {
            let seed = |points: &Vec<(u64, f64)>| points.iter().map(|&(step, y)| (step as f64, y)).collect();
            PanelCurve {
                name_idx: styles.of(&module.module),
                points: band_points(&module.curve, has_bands),
                seeds: module.seeds.iter().filter(|_| has_bands).map(|one| seed(&one.points)).collect(),
                paper: None,
            }
        };
        Panel {
            title: if is_boxes(&task.task) { format!("{}: IoU", task.task) } else { task.task.clone() },
            chance: chance_of(&task.task),
            horizon: task.horizon_step.map(|step| step as f64),
            curves: task.modules.iter().map(curve).collect(),
        }
    };
    let n_seeds = found.tasks.iter().flat_map(|task| &task.modules).map(|module| module.curve.n);
    let lines = lines_words(has_bands, n_seeds);
    let are_boxes = found.tasks.iter().all(|task| is_boxes(&task.task));
    let (quantity, y_label) = if are_boxes { ("IoU", "IoU") } else { ("reward", "validation reward") };
    Panels {
        id: format!("curves-{preset}"),
        title: format!("Learning curves, preset {preset}"),
        caption: format!(
            "Mean {quantity} of validation trials: {lines}. Dashed: uniform touches. Dotted: the horizon, up to which areas are compared."
        ),
        x_label: "steps".into(),
        y_label: y_label.into(),
        line_names: styles.names(),
        panels: found.tasks.iter().map(panel).collect(),
        ..Panels::default()
    }
    .figure()
}

/// Whether the reward of a task is an IoU.
pub fn is_boxes(task: &str) -> bool {
    task == "localization"
}

/// The mean reward of uniform touches, if it depends on geometry only.
pub fn chance_of(task: &str) -> Option<f64> {
    find_task(task).ok()?.geometric_rewards().map(|exact| exact.chance)
}

fn heat_table(preset: &str, all: &Comparison) -> Figure {
    let order = by_area(all);
    HeatTable {
        id: format!("n-auc-{preset}"),
        title: format!("N-AUC of modules and tasks, preset {preset}"),
        caption: format!(
            "Area under the learning curve up to the task's horizon, over that of the best module; means over seeds, {}. Hatched: not run.",
            n_words(all.n_auc.iter().flatten().flatten().map(|cell| cell.n))
        ),
        value_label: "N-AUC".into(),
        rows: order.iter().map(|&row| all.modules[row].clone()).collect(),
        columns: all.tasks.iter().map(|task| task.task.clone()).collect(),
        values: order
            .iter()
            .map(|&row| all.n_auc[row].iter().map(|cell| cell.as_ref().map(|cell| cell.n_auc)).collect())
            .collect(),
    }
    .figure()
}

/// Rows from the best module to the worst.
fn by_area(all: &Comparison) -> Vec<usize> {
    let mean = |row: usize| {
        let values: Vec<f64> = all.n_auc[row].iter().flatten().map(|cell| cell.n_auc).collect();
        values.iter().sum::<f64>() / values.len().max(1) as f64
    };
    let mut rows: Vec<usize> = (0..all.modules.len()).collect();
    rows.sort_by(|&a, &b| mean(b).total_cmp(&mean(a)));
    rows
}

fn averaged_over(all: &Comparison) -> String {
    format!("over {} of the paper's 12 tasks", all.averaged_tasks.len())
}

/// The paper's TA-N-AUC of the module.
fn of_the_paper(average: &ModuleAverage) -> Option<f64> {
    MAIN_MODULES.iter().find(|(name, _)| *name == average.module).map(|&(_, value)| value)
}

fn averages(preset: &str, all: &Comparison, styles: &Styles) -> Figure {
    let mut sorted: Vec<&ModuleAverage> = all.averages.iter().collect();
    sorted.sort_by(|a, b| b.ta_n_auc.value.total_cmp(&a.ta_n_auc.value));
    let row = |average: &&ModuleAverage| IntervalRow {
        label: average.module.clone(),
        estimates: vec![Mark {
            series_idx: Some(styles.of(&average.module)),
            value: Some(average.ta_n_auc.value),
            interval: ends(average.ta_n_auc.interval),
            paper: of_the_paper(average),
            n: average.ta_n_auc.size.n_runs as u64,
            ..Mark::default()
        }],
    };
    Intervals {
        id: format!("ta-n-auc-{preset}"),
        title: format!("TA-N-AUC, preset {preset}"),
        caption: format!(
            "Mean N-AUC {}, with a 95 % stratified bootstrap interval: the seeds of each task are resampled, tasks are not; n counts runs. \
             Diamonds: the paper's figures.",
            averaged_over(all)
        ),
        x_label: "TA-N-AUC".into(),
        groups: vec![IntervalGroup { heading: String::new(), rows: sorted.iter().map(row).collect() }],
        ..Intervals::default()
    }
    .figure()
}

fn profiles(preset: &str, all: &Comparison, styles: &Styles) -> Figure {
    let has_bands = all.averages.len() <= MAX_BANDS;
    let mut sorted: Vec<&ModuleAverage> = all.averages.iter().collect();
    sorted.sort_by_key(|average| styles.of(&average.module));
    let point = |point: &ProfilePoint| {
        let value = point.share.value;
        let (lower, upper) = ends(point.share.interval).filter(|_| has_bands).unwrap_or((value, value));
        BandPoint { x: point.threshold, y: value, lower, upper }
    };
    let curve = |average: &&ModuleAverage| PanelCurve {
        name_idx: styles.of(&average.module),
        points: average.profile.iter().map(point).collect(),
        ..PanelCurve::default()
    };
    let thresholds = sorted.iter().flat_map(|average| &average.profile).map(|point| point.threshold);
    Panels {
        id: format!("profiles-{preset}"),
        title: format!("Performance profiles, preset {preset}"),
        caption: format!(
            "The share of runs whose normalized area is above a threshold, {}{}; n = {} runs of each.",
            averaged_over(all),
            if has_bands { "; 95 % bootstrap bands, over the seeds of each task" } else { "" },
            all.averages.iter().map(|average| average.ta_n_auc.size.n_runs).min().unwrap_or(0),
        ),
        x_label: "normalized area".into(),
        y_label: "share of runs above it".into(),
        x_range: extent(thresholds),
        line_names: styles.names(),
        panels: vec![Panel { curves: sorted.iter().map(curve).collect(), ..Panel::default() }],
        ..Panels::default()
    }
    .figure()
}

fn average_table(preset: &str, all: &Comparison) -> Table {
    let mut sorted: Vec<&ModuleAverage> = all.averages.iter().collect();
    sorted.sort_by(|a, b| b.ta_n_auc.value.total_cmp(&a.ta_n_auc.value));
    Columns::of(&sorted)
        .text("module", "module", |average| average.module.clone())
        .pooled("ta_n_auc", "TA-N-AUC", |average| Some(average.ta_n_auc))
        .number("paper", "paper", |average| of_the_paper(average))
        .pooled("interquartile_mean", "interquartile mean", |average| Some(average.interquartile_mean))
        .pooled("ems_is_better", "P(EMS is better)", |average| average.ems_is_better)
        .count("n_runs", "runs", |average| average.ta_n_auc.size.n_runs as u64)
        .count("n_tasks", "tasks", |average| average.ta_n_auc.size.n_tasks as u64)
        .count("fewest_seeds", "seeds, fewest", |average| average.ta_n_auc.size.fewest_seeds as u64)
        .table(
            format!("ta-n-auc-{preset}"),
            format!("Normalized areas {}, preset {preset}", averaged_over(all)),
            format!(
                "Tasks: {}. 95 % stratified bootstrap intervals: the seeds of each task are resampled, tasks are not. Those of TA-N-AUC \
                 are widened for few seeds; the others are as in rliable, and somewhat narrow for three.",
                all.averaged_tasks.join(", ")
            ),
        )
}

fn areas(preset: &str, all: &Comparison) -> Table {
    let modules = all.modules.iter().zip(&all.n_auc);
    let rows: Vec<(&String, &TaskHorizon, &NormalizedArea)> = modules
        .flat_map(|(module, cells)| {
            let cells = all.tasks.iter().zip(cells);
            cells.filter_map(move |(task, cell)| Some((module, task, cell.as_ref()?)))
        })
        .collect();
    Columns::of(&rows)
        .text("module", "module", |(module, ..)| (*module).clone())
        .text("task", "task", |(_, task, _)| task.task.clone())
        .number("n_auc", "N-AUC", |(.., cell)| Some(cell.n_auc))
        .number("area", "area", |(.., cell)| Some(cell.area))
        .count("horizon", "horizon, steps", |(_, task, _)| task.step)
        .count("n", "n", |(.., cell)| cell.n as u64)
        .table(
            format!("n-auc-{preset}"),
            format!("N-AUC, preset {preset}"),
            "Area: mean validation reward along the curve up to the horizon, over n seeds. Tasks with a single module are not here."
                .into(),
        )
}

fn horizons(preset: &str, all: &Comparison) -> Table {
    Columns::of(&all.tasks)
        .text("task", "task", |task| task.task.clone())
        .count("step", "horizon, steps", |task| task.step)
        .count("n_converged", "modules near their end", |task| task.n_converged as u64)
        .count("n_learned", "modules that learned", |task| task.n_learned as u64)
        .count("n_modules", "modules", |task| task.n_modules as u64)
        .count("n_seeds", "n", |task| task.n_seeds as u64)
        .count("n_seeds_left_out", "seeds left out", |task| task.n_seeds_left_out as u64)
        .table(
            format!("horizons-{preset}"),
            format!("Horizons, preset {preset}"),
            "Modules are compared up to here, over the seeds that all of them have.".into(),
        )
}

fn final_rewards(preset: &str, found: &ModuleFindings) -> Table {
    let rows: Vec<(&TaskFindings, &ModuleOnTask)> =
        found.tasks.iter().flat_map(|task| task.modules.iter().map(move |module| (task, module))).collect();
    let seeds = |module: &ModuleOnTask| {
        let seeds = module.seeds.iter().map(|seed| format!("{:.3}", seed.final_reward));
        seeds.collect::<Vec<_>>().join(" ")
    };
    Columns::of(&rows)
        .text("task", "task", |(task, _)| task.task.clone())
        .text("module", "module", |(_, module)| module.module.clone())
        .estimate("final_reward", "final reward", Possible::SHARE, |(_, module)| Some(module.final_reward))
        .count("n", "n", |(_, module)| module.final_reward.n as u64)
        .counted("area", "area to the horizon", Possible::SHARE, |(_, module)| module.area)
        .text("seeds", "final reward of each seed", |(_, module)| seeds(module))
        .table(
            format!("final-rewards-{preset}"),
            format!("Final rewards, preset {preset}"),
            format!(
                "Mean validation reward (of localization, IoU) of the last tenth of each curve; Student's 95 % intervals over n seeds, where bands \
                 of figures are bootstrapped over the same. {CLIPPING_NOTE}"
            ),
        )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sections::colours::Colours;
    use touchstream_analysis::{Findings, Point, RunKind, RunRecord, findings};

    fn found_of(runs: &[(&str, &str)]) -> Findings {
        let record = |module: &str, task: &str, seed: u64| RunRecord {
            failure: None,
            preset: "default".into(),
            module: module.into(),
            task: task.into(),
            seed,
            kind: RunKind::SingleTask,
            learning_rate: None,
            base_curve: Vec::new(),
            points: [(0, 0.5), (100, 0.9), (200, if seed == 1 { 1.0 } else { 0.8 })]
                .map(|(step, reward)| Point {
                    step,
                    reward,
                    train_reward: None,
                    on_object: None,
                    reuse: None,
                })
                .to_vec(),
        };
        let records = runs.iter().flat_map(|(module, task)| [1, 2].map(|seed| record(module, task, seed)));
        findings(&records.collect::<Vec<_>>(), &[])
    }

    fn section_of(found: &Findings) -> StudySection {
        let colours = Colours::of(&found.presets);
        section("default", &found.presets[0].modules, &colours.modules).unwrap()
    }

    #[test]
    fn a_module_alone_on_a_task_has_no_n_auc() {
        let ids = |section: &StudySection| {
            section.figures.iter().map(|figure| figure.id.clone()).collect::<Vec<String>>()
        };
        let found = found_of(&[("ems", "sr-2way"), ("no-symm", "mts-2way-stationary")]);
        let section = section_of(&found);
        assert_eq!(ids(&section), ["curves-default"]);
        assert!(section.tables.iter().all(|table| !table.id.contains("n-auc")));

        let both = [("ems", "sr-2way"), ("none-relu-small", "sr-2way"), ("no-symm", "mts-2way-stationary")];
        let section = section_of(&found_of(&both));
        let areas = section.tables.iter().find(|table| table.id == "n-auc-default").unwrap().csv();
        assert!(areas.contains("ems,sr-2way,1.0") && !areas.contains("no-symm"), "{areas}");
        assert!(!section.figures[1].svg.contains("no-symm"), "{}", section.figures[1].svg);
    }

    #[test]
    fn a_module_has_one_colour_in_all_figures() {
        let runs = ["conv-ems", "none-relu-small", "no-symm"].map(|module| (module, "localization"));
        let section = section_of(&found_of(&runs));
        let [curves, _, averages, profiles] = &section.figures[..] else { panic!("four figures") };
        assert!(
            curves.svg.contains(">IoU</text>") && curves.caption.starts_with("Mean IoU"),
            "{}",
            curves.caption
        );
        for (module, colour) in [("no-symm", 1), ("none-relu-small", 6), ("conv-ems", 0)] {
            for figure in [curves, profiles] {
                let (before, _) = figure.svg.split_once(&format!(">{module}</text>")).unwrap();
                let line = before.rsplit("class=\"line ").next().unwrap();
                assert!(line.starts_with(&format!("s{colour}\"")), "{module} in {}", figure.id);
            }
            let (_, behind) = averages.svg.split_once(&format!("<title>{module}:")).unwrap();
            assert!(behind.split("</g>").next().unwrap().contains(&format!("<circle class=\"f{colour}\"")));
        }
    }

    #[test]
    fn no_interval_of_rewards_leaves_0_to_1() {
        let section = section_of(&found_of(&[("ems", "sr-2way")]));
        let csv = section.tables[0].csv();
        let cells: Vec<&str> = csv.lines().nth(1).unwrap().split(',').collect();
        // Student's interval of 1 and 0.8 would be from -0.37 to 2.17.
        assert_eq!(cells[2..5], ["0.9", "0.0", "1.0"]);
    }
}
