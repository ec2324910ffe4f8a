//! Writes a study's report of made-up numbers to a folder, to look at the parts of which real ones are made.
//!
//!     cargo run -p touchstream-report --example study_report_demo -- FOLDER

use std::error::Error;
use std::path::Path;
use std::{env, fs};
use touchstream_analysis::{Verdict, VerdictKind};
use touchstream_report::study::band_line::BandPoint;
use touchstream_report::study::figure::Figure;
use touchstream_report::study::heat_table::HeatTable;
use touchstream_report::study::intervals::{IntervalGroup, IntervalRow, Intervals, Mark};
use touchstream_report::study::panels::{Panel, PanelCurve, Panels, XRange};
use touchstream_report::study::png::{DEFAULT_SCALE, png_from_svg};
use touchstream_report::study::profiles::{ProfileLine, Profiles};
use touchstream_report::study::progress_banner::RunCounts;
use touchstream_report::study::study_page::{StudyPage, StudyPicture, StudySection};
use touchstream_report::study::table::{Cell, Table, TableColumn};

const TASKS: [&str; 12] = [
    "sr-2way",
    "sr-4way-double-binary",
    "sr-4way-quadrant",
    "mts-2way-horizontal",
    "mts-2way-vertical",
    "mts-2way-horizontal-flip",
    "mts-4way-2shown-vertical",
    "mts-4way-2shown-horizontal",
    "mts-4way-4shown",
    "mts-4way-4shown-permuted",
    "localization",
    "scenes-binary",
];

const MODULES: [&str; 24] = [
    "ems",
    "ems-no-symmetry",
    "ems-no-multiplication",
    "ems-relu",
    "ems-none",
    "late-fusion",
    "late-fusion-wide",
    "ems-partial-symmetry",
    "ems-tanh",
    "ems-sigmoid",
    "ems-elu",
    "ems-no-bottleneck",
    "ems-one-layer",
    "ems-three-layers",
    "late-tanh",
    "late-sigmoid",
    "late-elu",
    "late-crelu",
    "late-square",
    "late-no-bottleneck",
    "late-one-layer",
    "late-three-layers",
    "single-fusion",
    "conv-ems",
];

/// A made-up number from 0 to 1 for two indices: the same every time.
fn made_up(one: usize, other: usize) -> f64 {
    let mixed = (one as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        ^ (other as u64 + 7).wrapping_mul(0xd1b5_4a32_d192_ed03);
    ((mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 11) as f64 / (1_u64 << 53) as f64
}

fn curve(module: usize, task: usize, seed: usize) -> impl Fn(f64) -> f64 {
    let chance = if task.is_multiple_of(3) { 0.5 } else { 0.25 };
    let best = 0.98 - 0.35 * made_up(module, task) * (module as f64 / 24.0).sqrt();
    let pace = 4000.0 + 9000.0 * made_up(task, module) + 2500.0 * made_up(seed + 50, module * 12 + task);
    move |step: f64| {
        best - (best - chance) * (-step / pace).exp()
            + 0.02 * (made_up(step as usize, seed * 7 + module) - 0.5)
    }
}

fn curves(id: &str, n_panels: usize, n_lines: usize) -> Figure {
    let panel = |task: usize| Panel {
        title: TASKS[task % 12].into(),
        chance: Some(if task.is_multiple_of(3) { 0.5 } else { 0.25 }),
        horizon: Some(24_000.0),
        curves: (0..n_lines)
            .map(|module| {
                let steps = (0..=30).map(|idx| f64::from(idx) * 1000.0);
                let point = |x: f64| {
                    let y = curve(module, task, 0)(x);
                    BandPoint {
                        x,
                        y,
                        lower: y - 0.06 * (1.0 - y) - 0.02,
                        upper: y + 0.03 * (1.0 - y) + 0.005,
                    }
                };
                let seed = |seed: usize| {
                    let seed = curve(module, task, seed);
                    (0..=30).map(|idx| f64::from(idx) * 1000.0).map(|x| (x, seed(x))).collect()
                };
                let n_seeds = if n_lines == 1 { 5 } else { 0 };
                PanelCurve {
                    name_idx: module,
                    points: steps.map(point).collect(),
                    seeds: (1..=n_seeds).map(seed).collect(),
                    paper: None,
                }
            })
            .collect(),
    };
    Panels {
        id: id.into(),
        title: "Learning curves by task (made up).".into(),
        caption:
            "Mean validation reward over 10 made-up seeds; bands: 95 % intervals by stratified bootstrap."
                .into(),
        x_label: "training steps".into(),
        y_label: "validation reward a trial".into(),
        x_range: XRange::Shared,
        y_range: (0.0, 1.0),
        line_names: MODULES[..n_lines].iter().map(|&name| name.into()).collect(),
        n_columns: None,
        panels: (0..n_panels).map(panel).collect(),
    }
    .figure()
}

fn heat() -> Figure {
    let value = |row: usize, column: usize| {
        (made_up(row, column + 90) > 0.06).then(|| 1.0 - made_up(row, column) * (row as f64 + 1.0) / 24.0)
    };
    HeatTable {
        id: "areas".into(),
        title: "Normalized area by module and task (made up).".into(),
        caption: "Means over 10 made-up seeds, over the best module of each task.".into(),
        value_label: "normalized area".into(),
        rows: MODULES.map(String::from).to_vec(),
        columns: TASKS.map(String::from).to_vec(),
        values: (0..24).map(|row| (0..12).map(|column| value(row, column)).collect()).collect(),
    }
    .figure()
}

fn estimate(series_idx: usize, row: usize) -> Mark {
    let value = 0.9 - 0.5 * made_up(row, series_idx + 3);
    Mark {
        series_idx: Some(series_idx),
        value: (row != 5).then_some(value),
        interval: Some((value - 0.03 - 0.05 * made_up(row, 1), value + 0.02 + 0.03 * made_up(row, 2))),
        seeds: (0..5).map(|seed| value + 0.12 * (made_up(row, seed + 20) - 0.5)).collect(),
        paper: row.is_multiple_of(2).then_some(value + 0.06 * (made_up(row, 40) - 0.3)),
        n: if row == 5 { 0 } else { 120 - row as u64 },
    }
}

fn overall() -> Figure {
    let group = |heading: &str, rows: std::ops::Range<usize>| IntervalGroup {
        heading: heading.into(),
        rows: rows
            .map(|row| IntervalRow { label: MODULES[row].into(), estimates: vec![estimate(0, row)] })
            .collect(),
    };
    Intervals {
        id: "overall".into(),
        title: "Interquartile mean of normalized areas (made up).".into(),
        caption: "Lines: 95 % intervals by stratified bootstrap over made-up seeds.".into(),
        x_label: "interquartile mean of normalized area".into(),
        reference: Some((0.95, "best of each task".into())),
        series: Vec::new(),
        groups: vec![group("EMS and its ablations", 0..5), group("Late fusion", 5..9)],
        ..Intervals::default()
    }
    .figure()
}

fn gains() -> Figure {
    let row = |switch: usize| {
        let estimate = |series_idx: usize| {
            let value = 1.4 * made_up(switch, series_idx + 60) - 0.4;
            Mark {
                series_idx: Some(series_idx),
                value: Some(value),
                interval: Some((value - 0.05 - 0.2 * made_up(switch, 61), value + 0.1)),
                n: 10,
                ..Mark::default()
            }
        };
        IntervalRow {
            label: format!("{}. {} to {}", switch + 1, TASKS[switch % 3], TASKS[(switch + 1) % 3]),
            estimates: vec![estimate(0), estimate(1)],
        }
    };
    Intervals {
        id: "gains".into(),
        title: "Relative gain by switch (made up).".into(),
        caption: "Area under the curve after the switch, over that of a module from scratch, minus 1.".into(),
        x_label: "RGain".into(),
        range: Some((-0.5, 1.0)),
        reference: Some((0.0, "from scratch".into())),
        series: vec!["layer voting".into(), "unit voting".into()],
        groups: vec![IntervalGroup { heading: String::new(), rows: (0..15).map(row).collect() }],
    }
    .figure()
}

fn profiles() -> Figure {
    let line = |module: usize| ProfileLine {
        name: MODULES[module].into(),
        style_idx: module,
        points: (0..=50)
            .map(|idx| {
                let x = f64::from(idx) / 50.0;
                let y = 1.0 / (1.0 + ((x - 0.9 + 0.07 * module as f64) * 14.0).exp());
                BandPoint { x, y, lower: (y - 0.06).max(0.0), upper: (y + 0.03).min(1.0) }
            })
            .collect(),
    };
    Profiles {
        id: "profiles".into(),
        title: "Performance profiles (made up).".into(),
        caption: "The share of made-up runs whose normalized area is above τ; bands: 95 % intervals.".into(),
        x_label: "normalized area (τ)".into(),
        lines: (0..6).map(line).collect(),
    }
    .figure()
}

fn table(n_rows: usize) -> Table {
    let row = |idx: usize| {
        let mean = (idx % 11 != 4).then(|| made_up(idx, 1));
        vec![
            Cell::Text(MODULES[idx % 24].into()),
            Cell::Text(TASKS[idx % 12].into()),
            Cell::Count(10),
            Cell::Number(mean),
            Cell::Number(mean.map(|mean| mean - 0.05)),
            Cell::Number(mean.map(|mean| mean + 0.04)),
            Cell::Truth(idx.is_multiple_of(2)),
        ]
    };
    Table {
        id: format!("areas-{n_rows}"),
        title: "Areas, 50 % < x & more (made up)".into(),
        note: "Means over made-up seeds with 95 % intervals.".into(),
        columns: vec![
            TableColumn::text("module", "module"),
            TableColumn::text("task", "task"),
            TableColumn::count("n_runs", "runs"),
            TableColumn::number("mean_area", "mean area"),
            TableColumn::number("lower", "lower end"),
            TableColumn::number("upper", "upper end"),
            TableColumn::truth("is_main", "main module"),
        ],
        rows: (0..n_rows).map(row).collect(),
    }
}

fn verdict(claim: &str, outcome: VerdictKind) -> Verdict {
    Verdict {
        claim_id: claim.into(),
        has_runs: true,
        claim: claim.into(),
        preset: "paper".into(),
        paper: "0.91".into(),
        found: "0.88 [0.85, 0.90]".into(),
        n: "120".into(),
        outcome,
        why: "the made-up interval lies below the paper's value".into(),
    }
}

fn page() -> Result<StudyPage, Box<dyn Error>> {
    let section = |id: &str, title: &str, figures: Vec<Figure>, tables: Vec<Table>| StudySection {
        id: id.into(),
        title: title.into(),
        text: "Every number of this section is made up. It shows how a report looks, not what modules learn."
            .into(),
        figures,
        pictures: vec![],
        tables,
    };
    let mut sections = vec![
        section(
            "curves",
            "Learning curves",
            vec![curves("curves-7", 12, 7), curves("curves-24", 15, 24)],
            vec![],
        ),
        section(
            "one-task",
            "One task, single seeds",
            vec![curves("curves-1", 1, 1), curves("curves-2", 2, 3)],
            vec![],
        ),
        section("areas", "Areas", vec![heat()], vec![table(12), table(288)]),
        section("overall", "All tasks together", vec![overall(), profiles()], vec![]),
        section("gains", "Gains by switch", vec![gains()], vec![]),
    ];
    let picture = png_from_svg(&profiles().svg, 1.0)?;
    sections[3]
        .pictures
        .push(StudyPicture { caption: "The profiles again, as a picture of pixels.".into(), png: picture });
    Ok(StudyPage {
        title: "A made-up study".into(),
        lead: "No run stands behind this page: its numbers are made up to show the parts of a report.".into(),
        facts: vec![
            ("preset".into(), "paper".into()),
            ("seeds".into(), "1 to 5".into()),
            ("source".into(), "made up".into()),
        ],
        progress: RunCounts { n_done: 914, n_failed: 23, n_running: 4, n_missing: 499 },
        missing: (0..40)
            .map(|idx| format!("{}/{}, seeds 3 to 5", MODULES[idx % 24], TASKS[idx % 12]))
            .collect(),
        failed: vec![("ems/sr-2way/seed-3".into(), "no space left on the device".into())],
        verdicts: vec![
            verdict("EMS learns faster than late fusion on every task", VerdictKind::Reproduced),
            verdict("Symmetry matters more than multiplication", VerdictKind::NotReproduced),
            verdict("Unit voting gains more than layer voting after a switch", VerdictKind::NotEnoughData),
        ],
        sections,
    })
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = env::args().nth(1).ok_or("usage: study_report_demo FOLDER")?;
    let folder = Path::new(&folder);
    fs::create_dir_all(folder)?;
    let page = page()?;
    fs::write(folder.join("made-up-study.html"), page.html()?)?;
    for section in &page.sections {
        for figure in &section.figures {
            fs::write(folder.join(format!("{}.svg", figure.id)), &figure.svg)?;
            fs::write(folder.join(format!("{}.png", figure.id)), png_from_svg(&figure.svg, DEFAULT_SCALE)?)?;
        }
        for table in &section.tables {
            let name = |ending: &str| folder.join(format!("{}.{ending}", table.id));
            fs::write(name("csv"), table.csv()?)?;
            fs::write(name("md"), table.markdown()?)?;
            fs::write(name("tex"), table.latex()?)?;
            fs::write(name("parquet"), table.parquet()?)?;
        }
    }
    Ok(())
}
