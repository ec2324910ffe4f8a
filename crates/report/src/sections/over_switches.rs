//! Summaries over all switches: the gain of each method, and differences between methods with the same seeds.

use crate::sections::tables::{
    CLIPPING_NOTE, Possible, counted_cells, counted_columns, figure_cells, figure_columns, mark,
};
use crate::study::figure::Figure;
use crate::study::intervals::{IntervalGroup, IntervalRow, Intervals, Mark};
use crate::study::table::{Cell, Table, TableColumn};
use touchstream_analysis::{
    AtSwitch, Estimate, OverSwitches, SwitchFindings, SwitchMethod, difference_over_switches,
    gain_over_switches,
};

/// Pairs of methods with the question that their difference answers.
const PAIRS: [(SwitchMethod, SwitchMethod, &str); 7] = [
    (SwitchMethod::LAYER, SwitchMethod::LAYER_PLAIN, "with minus without transformations"),
    (SwitchMethod::UNIT, SwitchMethod::UNIT_PLAIN, "with minus without transformations"),
    (SwitchMethod::LAYER, SwitchMethod::LAYER_SHUFFLED, "intact minus shuffled old module"),
    (SwitchMethod::UNIT, SwitchMethod::UNIT_SHUFFLED, "intact minus shuffled old module"),
    (SwitchMethod::LAYER, SwitchMethod::FineTuning, "voting minus fine-tuning"),
    (SwitchMethod::UNIT, SwitchMethod::FineTuning, "voting minus fine-tuning"),
    (SwitchMethod::UNIT, SwitchMethod::LAYER, "unit minus layer voting"),
];

/// Explanation of intervals over switches.
pub const OVER_SWITCHES: &str = "Over switches: the mean of the switches' means, with Student's 95 % interval over switches, which have equal \
                                 weights (no-switch is excluded). Over seeds: each seed's own mean over switches, with Student's 95 % interval over the \
                                 seeds that all switches have.";

/// One row per method: mean, median, number of positive gains.
pub fn summary_table(
    preset: &str,
    module: &str,
    switches: &[&SwitchFindings],
    ways: &[SwitchMethod],
) -> Option<Table> {
    let mut columns = vec![TableColumn::text("way", "learned by")];
    columns.extend(counted_columns("rgain", "mean RGain, interval over switches"));
    columns.push(TableColumn::number("median", "median"));
    columns.push(TableColumn::count("n_positive", "positive at"));
    columns.extend(counted_columns("rgain_of_seeds", "mean RGain, interval over seeds"));
    let row = |&way: &SwitchMethod| {
        let found = gain_over_switches(switches, &[way])?;
        let mut cells = vec![Cell::Text(way.to_string())];
        cells.extend(counted_cells(Some(&found.over_switches), Possible::GAIN));
        cells.push(Cell::Number(Some(found.median)));
        cells.push(Cell::Count(found.n_positive as u64));
        cells.extend(counted_cells(found.over_seeds.as_ref(), Possible::GAIN));
        Some(cells)
    };
    let rows: Vec<Vec<Cell>> = ways.iter().filter_map(row).collect();
    (!rows.is_empty()).then(|| Table {
        id: format!("over-switches-{module}-{preset}"),
        title: format!("RGain over switches with {module}, preset {preset}"),
        note: format!("{OVER_SWITCHES} {CLIPPING_NOTE}"),
        columns,
        rows,
    })
}

/// Differences of methods with the same seeds, at each switch and over switches; `None` if no pair was run.
pub fn differences(preset: &str, module: &str, switches: &[&SwitchFindings]) -> Option<(Figure, Table)> {
    let of_pair = |&(one, other, what): &(SwitchMethod, SwitchMethod, &'static str)| {
        Some((format!("{one} minus {other}"), what, difference_over_switches(switches, &[(one, other)])?))
    };
    let found: Vec<(String, &str, OverSwitches)> = PAIRS.iter().filter_map(of_pair).collect();
    (!found.is_empty())
        .then(|| (difference_figure(preset, module, &found), difference_table(preset, module, &found)))
}

fn difference_figure(preset: &str, module: &str, found: &[(String, &str, OverSwitches)]) -> Figure {
    let row = |label: String, figure: &Estimate, seeds: Vec<f64>| IntervalRow {
        label,
        estimates: vec![Mark { seeds, ..mark(figure, Possible::ANYTHING) }],
    };
    let at_switch = |at: &AtSwitch| {
        let label = format!("{}: {}", at.found.switch, at.found.task);
        row(label, &at.mean, at.seeds.values().copied().collect())
    };
    let group = |(name, what, found): &(String, &str, OverSwitches)| {
        let mut rows = Vec::new();
        if found.switches.len() > 1 {
            rows.push(row("over switches (n: switches)".into(), &found.over_switches, Vec::new()));
            rows.extend(
                found.over_seeds.map(|figure| row("over seeds (n: seeds)".into(), &figure, Vec::new())),
            );
        }
        rows.extend(found.switches.iter().map(at_switch));
        IntervalGroup { heading: format!("{name}: {what}"), rows }
    };
    Intervals {
        id: format!("differences-{module}-{preset}"),
        title: format!("Differences in RGain: {module}, preset {preset}"),
        caption: format!(
            "RGain of one method minus that of another with the same seed. At a switch: mean over n seeds with Student's 95 % interval; dots are \
             seeds. {OVER_SWITCHES}"
        ),
        x_label: "difference in RGain".into(),
        reference: Some((0.0, "no difference".into())),
        groups: found.iter().map(group).collect(),
        ..Intervals::default()
    }
    .figure()
}

fn difference_table(preset: &str, module: &str, found: &[(String, &str, OverSwitches)]) -> Table {
    let mut columns = vec![
        TableColumn::text("difference", "difference"),
        TableColumn::text("switch", "switch"),
        TableColumn::text("task", "second task"),
    ];
    columns.extend(figure_columns("rgain", "in RGain"));
    columns.push(TableColumn::count("n", "n"));
    columns.push(TableColumn::text("interval_over", "n and interval are over"));
    let mut rows = Vec::new();
    for (name, what, found) in found {
        let mut push = |switch: &str, task: &str, figure: &Estimate, over: &str| {
            let text = |word: &str| Cell::Text(word.to_owned());
            let mut cells = vec![text(&format!("{name}: {what}")), text(switch), text(task)];
            cells.extend(figure_cells(Some(figure), Possible::ANYTHING));
            cells.extend([Cell::Count(figure.n as u64), text(over)]);
            rows.push(cells);
        };
        push("all", "", &found.over_switches, "switches");
        if let Some(figure) = &found.over_seeds {
            push("all", "", figure, "seeds");
        }
        for at in &found.switches {
            push(&at.found.switch, &at.found.task, &at.mean, "seeds");
        }
    }
    Table {
        id: format!("differences-{module}-{preset}"),
        title: format!("Differences in RGain with {module}, preset {preset}"),
        note: format!("Each difference is of two runs with the same seed. {OVER_SWITCHES}"),
        columns,
        rows,
    }
}
