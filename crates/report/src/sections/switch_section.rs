//! Second tasks: learning curves after the switch, gains, and reuse.

use crate::sections::colours::Styles;
use crate::sections::single_task_section::{band_points, chance_of, is_boxes};
use crate::sections::tables::{CLIPPING_NOTE, Possible, left_out_table, lines_words, mark};
use crate::sections::{controller_tables, over_switches};
use crate::study::figure::Figure;
use crate::study::intervals::{IntervalGroup, IntervalRow, Intervals, Mark};
use crate::study::panels::{Panel, PanelCurve, Panels};
use crate::study::study_page::StudySection;
use crate::study::table::{Columns, Table};
use std::collections::BTreeSet;
use touchstream_analysis::{
    Estimate, InitialValues, MeanCurve, OverSwitches, SwitchFindings, SwitchMethod, WayFindings,
    gain_over_switches,
};
use touchstream_env::schedule::NAMED_SCHEDULES;

/// A study with more methods is a sweep.
const MOST_WAYS: usize = 12;
/// More lines per panel than these are drawn without bands, which would hide them.
const MAX_BANDS: usize = 4;

/// One section per module under a preset; `default` contains the initial values of the preset's controller.
pub fn sections(
    preset: &str,
    found: &[SwitchFindings],
    styles: &Styles,
    default: InitialValues,
) -> Vec<StudySection> {
    let mut modules: Vec<&str> = found.iter().map(|switch| switch.module.as_str()).collect();
    modules.sort_unstable();
    modules.dedup();
    modules.into_iter().map(|module| section(preset, module, found, styles, default)).collect()
}

fn section(
    preset: &str,
    module: &str,
    found: &[SwitchFindings],
    styles: &Styles,
    default: InitialValues,
) -> StudySection {
    let mut switches: Vec<&SwitchFindings> = found.iter().filter(|switch| switch.module == module).collect();
    switches.sort_by_key(|switch| rank(&switch.switch));
    let ways = way_names(&switches, styles);
    let (mut figures, mut tables) = (Vec::new(), Vec::new());
    if let Some((figure, of_sweep)) =
        controller_tables::sweep(preset, module, &switches, &ways, styles, default)
    {
        figures.push(figure);
        tables.extend(of_sweep);
    }
    // A sweep of dozens of methods is shown in tables only.
    if ways.len() <= MOST_WAYS {
        figures.extend(bases(preset, module, &switches));
        figures.push(curves(preset, module, &switches, &ways, styles, Quantity::Reward));
        if switches.iter().any(|switch| switch.ways.iter().any(|way| way.reuse.is_some())) {
            figures.push(curves(preset, module, &switches, &ways, styles, Quantity::Reuse));
        }
        figures.push(gains(preset, module, &switches, &ways, styles, Gain::Relative));
        figures.push(gains(preset, module, &switches, &ways, styles, Gain::Transfer));
        tables.extend(over_switches::summary_table(preset, module, &switches, &ways));
    }
    if let Some((figure, table)) = over_switches::differences(preset, module, &switches) {
        figures.push(figure);
        tables.push(table);
    }
    tables.push(gain_table(preset, module, &switches));
    let left_out: Vec<_> = switches.iter().flat_map(|switch| switch.left_out.clone()).collect();
    tables.extend(left_out_table(&format!("left-out-switches-{module}-{preset}"), &left_out));
    StudySection {
        id: format!("switches-{module}-{preset}"),
        title: format!("Switches with {module}, preset {preset}"),
        text: "RGain: the area under the curve after the switch, divided by that of a new module alone (scratch) on the same screens, \
               minus 1; it shrinks with the number of steps. TGain: the largest lead in reward over scratch, divided by the number \
               of steps at which it occurs; per 1,000 steps. Intervals at a switch are over seeds, each paired with its own scratch run."
            .into(),
        figures,
        pictures: Vec::new(),
        tables,
    }
}

/// The paper's switches in its order; others come after.
pub fn rank(switch: &str) -> usize {
    NAMED_SCHEDULES.iter().position(|row| row.id == switch).unwrap_or(NAMED_SCHEDULES.len())
}

/// The methods, with the baseline first.
fn way_names(switches: &[&SwitchFindings], styles: &Styles) -> Vec<SwitchMethod> {
    let ways = switches.iter().flat_map(|switch| &switch.ways).map(|way| way.way);
    let mut names: Vec<SwitchMethod> = ways.collect::<BTreeSet<_>>().into_iter().collect();
    names.sort_by_key(|name| styles.of(&name.to_string()));
    names
}

/// Learning curves of the base tasks, without duplicates.
fn bases(preset: &str, module: &str, switches: &[&SwitchFindings]) -> Option<Figure> {
    let mut bases: Vec<(&str, &MeanCurve)> = Vec::new();
    for switch in switches {
        let base = switch.base_curve.as_ref().map(|curve| (switch.base_task.as_str(), curve));
        bases.extend(base.filter(|base| !bases.contains(base)));
    }
    let panel = |&(task, curve): &(&str, &MeanCurve)| Panel {
        title: task.to_owned(),
        chance: chance_of(task),
        curves: vec![PanelCurve { points: band_points(curve, true), ..PanelCurve::default() }],
        ..Panel::default()
    };
    (!bases.is_empty()).then(|| {
        Panels {
            id: format!("switch-bases-{module}-{preset}"),
            title: format!("Before the switch: {module}, preset {preset}"),
            caption: format!(
                "Validation on the base tasks: {}.",
                lines_words(true, bases.iter().map(|(_, curve)| curve.n))
            ),
            x_label: "steps".into(),
            y_label: "validation reward".into(),
            line_names: vec!["base task".into()],
            panels: bases.iter().map(panel).collect(),
            ..Panels::default()
        }
        .figure()
    })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Quantity {
    Reward,
    Reuse,
}

fn curves(
    preset: &str,
    module: &str,
    switches: &[&SwitchFindings],
    ways: &[SwitchMethod],
    styles: &Styles,
    quantity: Quantity,
) -> Figure {
    let curve_of = |way: &WayFindings| match quantity {
        Quantity::Reward => Some(way.curve.clone()),
        Quantity::Reuse => way.reuse.clone(),
    };
    let has_bands = ways.len() <= MAX_BANDS;
    let panel = |switch: &&SwitchFindings| {
        let curve = |way: &WayFindings| {
            let curve = curve_of(way)?;
            Some(PanelCurve {
                name_idx: styles.of(&way.way.to_string()),
                points: band_points(&curve, has_bands),
                ..PanelCurve::default()
            })
        };
        Panel {
            title: match quantity {
                Quantity::Reward if is_boxes(&switch.task) => {
                    format!("{}: {}, IoU", switch.switch, switch.task)
                }
                _ => format!("{}: {}", switch.switch, switch.task),
            },
            chance: chance_of(&switch.task).filter(|_| quantity == Quantity::Reward),
            horizon: None,
            curves: switch.ways.iter().filter_map(curve).collect(),
        }
    };
    let n_seeds = switches.iter().flat_map(|switch| &switch.ways).map(|way| way.curve.n);
    let lines = lines_words(has_bands, n_seeds);
    let (id, title, what, y_label) = match quantity {
        Quantity::Reward => ("curves", "After the switch", "Validation reward", "validation reward"),
        Quantity::Reuse => {
            ("reuse", "Reuse", "Vote share of the old modules, mean over stages", "vote share")
        }
    };
    Panels {
        id: format!("switch-{id}-{module}-{preset}"),
        title: format!("{title}: {module}, preset {preset}"),
        caption: format!("{what}: {lines}."),
        x_label: "steps after the switch".into(),
        y_label: y_label.into(),
        line_names: styles.names(),
        panels: switches.iter().map(panel).collect(),
        ..Panels::default()
    }
    .figure()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Gain {
    Relative,
    Transfer,
}

fn gains(
    preset: &str,
    module: &str,
    switches: &[&SwitchFindings],
    ways: &[SwitchMethod],
    styles: &Styles,
    gain: Gain,
) -> Figure {
    let possible = if gain == Gain::Relative { Possible::GAIN } else { Possible::ANYTHING };
    let figure_of = |way: &WayFindings| -> Option<Estimate> {
        match gain {
            Gain::Relative => way.r_gain,
            Gain::Transfer => way.t_gain,
        }
    };
    let estimate = |way: &WayFindings| {
        let found = figure_of(way)?;
        let of_seed = way.seeds.iter().filter_map(|seed| match gain {
            Gain::Relative => seed.r_gain,
            Gain::Transfer => seed.t_gain,
        });
        Some(Mark {
            series_idx: Some(styles.of(&way.way.to_string())),
            seeds: of_seed.collect(),
            ..mark(&found, possible)
        })
    };
    // In the legend's order.
    let in_order = |switch: &SwitchFindings| {
        let found = ways.iter().filter_map(|name| switch.ways.iter().find(|way| way.way == *name));
        found.filter_map(estimate).collect()
    };
    let row_of = |switch: &&SwitchFindings| IntervalRow {
        label: format!("{}: {}", switch.switch, switch.task),
        estimates: in_order(switch),
    };
    let over_all = |label: &str, figure: fn(&OverSwitches) -> Option<Estimate>| {
        let estimate = |&way: &SwitchMethod| {
            let found = gain_over_switches(switches, &[way]).filter(|found| found.switches.len() > 1)?;
            let figure = figure(&found)?;
            Some(Mark { series_idx: Some(styles.of(&way.to_string())), ..mark(&figure, possible) })
        };
        let estimates: Vec<Mark> = ways.iter().filter_map(estimate).collect();
        (!estimates.is_empty() && gain == Gain::Relative)
            .then(|| IntervalRow { label: label.to_owned(), estimates })
    };
    let means = [
        over_all("mean over switches (n: switches)", |found| Some(found.over_switches)),
        over_all("mean over switches (n: seeds)", |found| found.over_seeds),
    ];
    let has_means = means.iter().any(Option::is_some);
    let rows = means.into_iter().flatten().chain(switches.iter().map(row_of)).collect();
    let (id, title, x_label) = match gain {
        Gain::Relative => ("rgain", "RGain", "RGain"),
        Gain::Transfer => ("tgain", "TGain", "TGain, reward per 1,000 steps"),
    };
    Intervals {
        id: format!("{id}-{module}-{preset}"),
        title: format!("{title}: {module}, preset {preset}"),
        caption: format!(
            "At a switch: mean over n seeds with Student's 95 % interval; dots are seeds.{}",
            if has_means {
                " On top: the mean of the switches' means with Student's 95 % interval over switches, and each seed's own mean over switches \
                 with that over seeds."
            } else {
                ""
            }
        ),
        x_label: x_label.into(),
        range: None,
        reference: Some((0.0, "no gain".into())),
        series: styles.names(),
        groups: vec![IntervalGroup { heading: String::new(), rows }],
    }
    .figure()
}

fn gain_table(preset: &str, module: &str, switches: &[&SwitchFindings]) -> Table {
    let rows: Vec<(&SwitchFindings, &WayFindings)> =
        switches.iter().flat_map(|&switch| switch.ways.iter().map(move |way| (switch, way))).collect();
    let reuse_end = |way: &WayFindings| {
        let shares: Vec<f64> = way.seeds.iter().filter_map(|seed| seed.reuse_end).collect();
        Estimate::of(&shares)
    };
    Columns::of(&rows)
        .text("switch", "switch", |(switch, _)| switch.switch.clone())
        .text("base", "first task", |(switch, _)| switch.base_task.clone())
        .text("task", "second task", |(switch, _)| switch.task.clone())
        .text("way", "learned by", |(_, way)| way.way.to_string())
        .estimate("rgain", "RGain", Possible::GAIN, |(_, way)| way.r_gain)
        .estimate("tgain", "TGain", Possible::ANYTHING, |(_, way)| way.t_gain)
        .count("n", "n", |(_, way)| way.r_gain.map_or(0, |gain| gain.n) as u64)
        .counted("area", "area", Possible::SHARE, |(_, way)| Some(way.area))
        .count("horizon", "steps", |(switch, _)| switch.horizon_steps)
        .counted("reuse_end", "vote share of old modules at the end", Possible::SHARE, |(_, way)| reuse_end(way))
        .table(
            format!("gains-{module}-{preset}"),
            format!("Gains with {module}, preset {preset}"),
            format!(
                "RGain shrinks with the number of steps after the switch. Student's 95 % intervals over n seeds. {CLIPPING_NOTE}"
            ),
        )
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::sections::colours::Colours;
    use crate::study::table::Cell;
    use touchstream_analysis::{Findings, Point, RunKind, RunRecord, findings};

    /// A run after a switch with the same reward at all steps.
    pub fn record(switch: &str, way: &str, seed: u64, reward: f64) -> RunRecord {
        let point = |step| Point {
            step,
            reward,
            train_reward: None,
            on_object: None,
            reuse: (way != "scratch").then_some(0.9 + 0.02 * seed as f64),
        };
        RunRecord {
            failure: None,
            preset: "default".into(),
            module: "ems".into(),
            task: "sr-2way".into(),
            seed,
            kind: RunKind::Second {
                switch: switch.into(),
                base_task: "sr-2way".into(),
                base: "base".into(),
                way: way.parse().unwrap(),
            },
            learning_rate: None,
            base_curve: Vec::new(),
            points: [0, 100].map(point).to_vec(),
        }
    }

    /// Two switches and two seeds per method.
    pub fn found_of(ways: &[(&str, f64)]) -> Findings {
        let mut records = Vec::new();
        for (idx, switch) in ["switch-1", "switch-2"].into_iter().enumerate() {
            for seed in [1, 2] {
                for (way, reward) in ways {
                    let more = 0.1 * idx as f64 * f64::from(u8::from(*way != "scratch"));
                    records.push(record(switch, way, seed, reward + more));
                }
            }
        }
        findings(&records, &[])
    }

    pub fn section_of(found: &Findings) -> StudySection {
        let colours = Colours::of(&found.presets);
        let default = InitialValues { mu: [0.01; 2], bias: [0.1; 2] };
        sections("default", &found.presets[0].switching, &colours.ways, default).remove(0)
    }

    /// The cells of all rows whose first cell is `first`.
    pub fn rows_of(section: &StudySection, table: &str, first: &str) -> Vec<Vec<String>> {
        let table = section.tables.iter().find(|known| known.id == table).unwrap();
        let word = |cell: &Cell| match cell {
            Cell::Text(text) => (*text).to_owned(),
            Cell::Count(n) => n.to_string(),
            Cell::Number(number) => number.map_or_else(String::new, |number| number.to_string()),
            Cell::Truth(truth) => truth.to_string(),
        };
        let rows = table.rows().map(|row| row.iter().map(word).collect::<Vec<String>>());
        rows.filter(|cells| cells[0] == first).collect()
    }

    const WAYS: [(&str, f64); 4] = [("scratch", 0.4), ("layer", 0.6), ("layer-plain", 0.5), ("unit", 0.8)];

    #[test]
    fn a_way_has_one_colour_in_all_figures() {
        let section = section_of(&found_of(&WAYS));
        let ids: Vec<&str> = section.figures.iter().map(|figure| figure.id.as_str()).collect();
        assert_eq!(
            ids[..4],
            [
                "switch-curves-ems-default",
                "switch-reuse-ems-default",
                "rgain-ems-default",
                "tgain-ems-default"
            ]
        );
        for (way, class) in [("layer", "s1"), ("unit", "s2"), ("layer-plain", "s3")] {
            for figure in &section.figures[..4] {
                let (before, _) =
                    figure.svg.split_once(&format!(">{way}</text>")).expect("it is in the legend");
                let line = before.rsplit("class=\"line ").next().unwrap();
                assert!(line.starts_with(&format!("{class}\"")), "{way} in {}", figure.id);
            }
        }
    }

    #[test]
    fn over_switches_each_way_has_a_row_with_both_intervals() {
        let section = section_of(&found_of(&WAYS));
        let rows = rows_of(&section, "over-switches-ems-default", "layer");
        let numbers: Vec<f64> = rows[0][1..].iter().filter_map(|cell| cell.parse().ok()).collect();
        let near =
            |idx: usize, wanted: f64| assert!((numbers[idx] - wanted).abs() < 1e-5, "{idx}: {numbers:?}");
        // 0.5 at one switch and 0.75 at the other, for all seeds: Student's half width is 12.7062047 * 0.125.
        near(0, 0.625);
        near(1, 0.625 - 12.706_204_7 * 0.125);
        near(2, 0.625 + 12.706_204_7 * 0.125);
        assert_eq!(rows[0][4], "2", "switches");
        near(4, 0.625);
        assert_eq!(rows[0][6], "2", "positive at both");
        near(6, 0.625);
        near(7, 0.625);
        near(8, 0.625);
        assert_eq!(rows[0][10], "2", "seeds");
        assert!(rows_of(&section, "over-switches-ems-default", "scratch").is_empty());
        let figure = |id: &str| section.figures.iter().find(|figure| figure.id == id).unwrap();
        for over in ["switches", "seeds"] {
            let label = format!(">mean over switches (n: {over})</text>");
            assert!(figure("rgain-ems-default").svg.contains(&label), "{over}");
            assert!(!figure("tgain-ems-default").svg.contains(&label), "{over}");
        }
    }

    #[test]
    fn differences_are_paired_and_shares_have_intervals() {
        let section = section_of(&found_of(&WAYS));
        let rows = rows_of(
            &section,
            "differences-ems-default",
            "layer minus layer-plain: with minus without transformations",
        );
        // Rows over switches, over seeds, and at two switches.
        assert_eq!(rows.len(), 4);
        for row in &rows {
            assert!((row[3].parse::<f64>().unwrap() - 0.25).abs() < 1e-9, "{row:?}");
        }
        let over: Vec<[&str; 3]> = rows.iter().map(|row| [&*row[1], &*row[6], &*row[7]]).collect();
        assert_eq!(over[..3], [["all", "2", "switches"], ["all", "2", "seeds"], ["switch-1", "2", "seeds"]]);
        assert!(section.figures.iter().any(|figure| figure.id == "differences-ems-default"));

        let gains = section.tables.iter().find(|table| table.id == "gains-ems-default").unwrap();
        let names: Vec<&str> = gains.columns.iter().map(|column| column.name.as_str()).collect();
        assert_eq!(names[names.len() - 4..], ["reuse_end", "reuse_end_low", "reuse_end_high", "reuse_end_n"]);
        let first = gains.rows().next().unwrap();
        let Cell::Number(high) = first[names.len() - 2] else { panic!("a number") };
        // Student's interval of 0.92 and 0.94 would extend above 1.
        assert_eq!((high, first.last()), (Some(1.0), Some(&Cell::Count(2))));
    }
}
