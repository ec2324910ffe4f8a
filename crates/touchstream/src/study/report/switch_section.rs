//! Second tasks: curves after the switch, gains, and how much was reused.

use crate::study::report::alone_section::{band_points, chance_of};
use crate::study::report::tables::{ends, figure_cells, figure_columns, left_out_table, n_words};
use touchstream_env::schedule::NAMED_SCHEDULES;
use touchstream_findings::{Figure as Found, SwitchFindings, WayFindings};
use touchstream_report::study::figure::Figure;
use touchstream_report::study::intervals::{Estimate, IntervalGroup, IntervalRow, Intervals};
use touchstream_report::study::panels::{Panel, PanelCurve, Panels, XRange};
use touchstream_report::study::study_page::StudySection;
use touchstream_report::study::table::{Cell, Table, TableColumn};

/// One section a module, under a preset.
pub fn sections(preset: &str, found: &[SwitchFindings]) -> Vec<StudySection> {
    let mut modules: Vec<&str> = found.iter().map(|switch| switch.module.as_str()).collect();
    modules.sort_unstable();
    modules.dedup();
    modules.into_iter().map(|module| section(preset, module, found)).collect()
}

fn section(preset: &str, module: &str, found: &[SwitchFindings]) -> StudySection {
    let mut switches: Vec<&SwitchFindings> = found.iter().filter(|switch| switch.module == module).collect();
    // The paper's in its order, then others by name.
    let rank = |name: &str| NAMED_SCHEDULES.iter().position(|row| row.id == name);
    switches.sort_by_key(|switch| rank(&switch.switch).unwrap_or(NAMED_SCHEDULES.len()));
    let ways = way_names(&switches);
    let mut figures = Vec::new();
    // A sweep of dozens of ways is read in its table.
    if ways.len() <= 12 {
        figures.push(curves(preset, module, &switches, &ways, Quantity::Reward));
        if switches.iter().any(|switch| switch.ways.iter().any(|way| way.reuse.is_some())) {
            figures.push(curves(preset, module, &switches, &ways, Quantity::Reuse));
        }
    }
    figures.push(gains(preset, module, &switches, &ways, Gain::Relative));
    figures.push(gains(preset, module, &switches, &ways, Gain::Transfer));
    let mut tables = vec![gain_table(preset, module, &switches)];
    let left_out: Vec<_> = switches.iter().flat_map(|switch| switch.left_out.clone()).collect();
    tables.extend(left_out_table(&format!("left-out-switches-{module}-{preset}"), &left_out));
    StudySection {
        id: format!("switches-{module}-{preset}"),
        title: format!("Switches with {module}, preset {preset}"),
        text: "RGain: area under the curve after the switch, over that of a new module alone (scratch) on the same screens, minus 1; \
               it shrinks with the horizon. TGain: the largest difference in reward over the time it took, a thousand steps. \
               Student's 95 % intervals over seeds, each paired with its own scratch run."
            .into(),
        figures,
        pictures: Vec::new(),
        tables,
    }
}

fn way_names(switches: &[&SwitchFindings]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for way in switches.iter().flat_map(|switch| &switch.ways) {
        if !names.contains(&way.way) {
            names.push(way.way.clone());
        }
    }
    // What everything is held against comes first.
    names.sort_by_key(|name| name != "scratch");
    names
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
    ways: &[String],
    quantity: Quantity,
) -> Figure {
    let curve_of = |way: &WayFindings| match quantity {
        Quantity::Reward => Some(way.curve.clone()),
        Quantity::Reuse => way.reuse.clone(),
    };
    let panel = |switch: &&SwitchFindings| {
        let curve = |way: &WayFindings| {
            let curve = curve_of(way)?;
            Some(PanelCurve {
                name_idx: ways.iter().position(|name| *name == way.way).unwrap_or(0),
                points: band_points(&curve, ways.len() <= 7),
                seeds: Vec::new(),
            })
        };
        Panel {
            title: format!("{}: {}", switch.switch, switch.task),
            chance: chance_of(&switch.task).filter(|_| quantity == Quantity::Reward),
            horizon: None,
            curves: switch.ways.iter().filter_map(curve).collect(),
        }
    };
    let n = n_words(switches.iter().flat_map(|switch| &switch.ways).map(|way| way.curve.n));
    let (id, title, y_label) = match quantity {
        Quantity::Reward => ("curves", "After the switch", "validation reward"),
        Quantity::Reuse => ("reuse", "Share of old modules in what is learned", "share, mean over stages"),
    };
    Panels {
        id: format!("switch-{id}-{module}-{preset}"),
        title: format!("{title}: {module}, preset {preset}"),
        caption: format!("95 % bootstrap bands over seeds; {n}."),
        x_label: "steps after the switch".into(),
        y_label: y_label.into(),
        x_range: XRange::Own,
        y_range: (0.0, 1.0),
        line_names: ways.to_vec(),
        panels: switches.iter().map(panel).collect(),
    }
    .figure()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Gain {
    Relative,
    Transfer,
}

fn gains(preset: &str, module: &str, switches: &[&SwitchFindings], ways: &[String], gain: Gain) -> Figure {
    let series: Vec<String> = ways.iter().filter(|way| *way != "scratch").cloned().collect();
    let figure_of = |way: &WayFindings| -> Option<Found> {
        match gain {
            Gain::Relative => way.r_gain,
            Gain::Transfer => way.t_gain,
        }
    };
    let estimate = |way: &WayFindings| {
        let series_idx = series.iter().position(|name| *name == way.way)?;
        let found = figure_of(way)?;
        let of_seed = way.seeds.iter().filter_map(|seed| match gain {
            Gain::Relative => seed.r_gain,
            Gain::Transfer => seed.t_gain,
        });
        Some(Estimate {
            series_idx,
            value: Some(found.value),
            interval: ends(found.interval),
            seeds: of_seed.collect(),
            paper: None,
            n: found.n as u64,
        })
    };
    let is_sweep = series.len() > 7;
    let rows_of = |switch: &&SwitchFindings| match is_sweep {
        // A row a way, under the switch's name.
        true => IntervalGroup {
            heading: format!("{}: {}", switch.switch, switch.task),
            rows: switch
                .ways
                .iter()
                .filter_map(|way| {
                    let estimate = Estimate { series_idx: 0, ..estimate(way)? };
                    Some(IntervalRow { label: way.way.clone(), estimates: vec![estimate] })
                })
                .collect(),
        },
        false => IntervalGroup {
            heading: String::new(),
            rows: vec![IntervalRow {
                label: format!("{}: {}", switch.switch, switch.task),
                estimates: switch.ways.iter().filter_map(estimate).collect(),
            }],
        },
    };
    let (id, title, x_label) = match gain {
        Gain::Relative => ("rgain", "RGain", "RGain"),
        Gain::Transfer => ("tgain", "TGain", "TGain, reward a thousand steps"),
    };
    Intervals {
        id: format!("{id}-{module}-{preset}"),
        title: format!("{title}: {module}, preset {preset}"),
        caption: "Means over seeds with Student's 95 % intervals; dots are seeds.".into(),
        x_label: x_label.into(),
        range: None,
        reference: Some((0.0, "no gain".into())),
        series: if is_sweep { vec!["gain".into()] } else { series.clone() },
        groups: switches.iter().map(rows_of).collect(),
    }
    .figure()
}

fn gain_table(preset: &str, module: &str, switches: &[&SwitchFindings]) -> Table {
    let mut columns = vec![
        TableColumn::text("switch", "switch"),
        TableColumn::text("base", "first task"),
        TableColumn::text("task", "second task"),
        TableColumn::text("way", "learned by"),
    ];
    columns.extend(figure_columns("rgain", "RGain"));
    columns.extend(figure_columns("tgain", "TGain"));
    columns.extend(figure_columns("area", "area"));
    columns.push(TableColumn::count("n", "n"));
    columns.push(TableColumn::count("horizon", "steps"));
    columns.push(TableColumn::number("reuse_end", "old modules' share at the end"));
    let mut rows = Vec::new();
    for switch in switches {
        for way in &switch.ways {
            let mut cells: Vec<Cell> = [&switch.switch, &switch.base_task, &switch.task, &way.way]
                .map(|word| Cell::Text(word.clone()))
                .to_vec();
            cells.extend(figure_cells(way.r_gain.as_ref()));
            cells.extend(figure_cells(way.t_gain.as_ref()));
            cells.extend(figure_cells(Some(&way.area)));
            cells.push(Cell::Count(way.r_gain.map_or(way.area.n, |gain| gain.n) as u64));
            cells.push(Cell::Count(switch.horizon_steps));
            let shares: Vec<f64> = way.seeds.iter().filter_map(|seed| seed.reuse_end).collect();
            let mean = shares.iter().sum::<f64>() / shares.len() as f64;
            cells.push(Cell::Number((!shares.is_empty()).then_some(mean)));
            rows.push(cells);
        }
    }
    Table {
        id: format!("gains-{module}-{preset}"),
        title: format!("Gains with {module}, preset {preset}"),
        note: "Gains shrink with the horizon, which is the number of steps after the switch.".into(),
        columns,
        rows,
    }
}
