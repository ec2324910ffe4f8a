//! Summaries over all switches: the gain of each method, and differences between methods with the same seeds.

use crate::sections::tables::{CLIPPING_NOTE, Possible, mark};
use crate::study::figure::Figure;
use crate::study::intervals::{IntervalGroup, IntervalRow, Intervals, Mark};
use crate::study::table::{Columns, Table};
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
    let found = |&way: &SwitchMethod| Some((way, gain_over_switches(switches, &[way])?));
    let rows: Vec<(SwitchMethod, OverSwitches)> = ways.iter().filter_map(found).collect();
    let table = Columns::of(&rows)
        .text("way", "learned by", |(way, _)| way.to_string())
        .counted("rgain", "mean RGain, interval over switches", Possible::GAIN, |(_, found)| {
            Some(found.over_switches)
        })
        .number("median", "median", |(_, found)| Some(found.median))
        .count("n_positive", "positive at", |(_, found)| found.n_positive as u64)
        .counted("rgain_of_seeds", "mean RGain, interval over seeds", Possible::GAIN, |(_, found)| {
            found.over_seeds
        })
        .table(
            format!("over-switches-{module}-{preset}"),
            format!("RGain over switches with {module}, preset {preset}"),
            format!("{OVER_SWITCHES} {CLIPPING_NOTE}"),
        );
    (!rows.is_empty()).then_some(table)
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
    let mut rows = Vec::new();
    for (name, what, found) in found {
        let mut push = |switch: &str, task: &str, estimate: Estimate, over: &'static str| {
            rows.push((format!("{name}: {what}"), switch.to_owned(), task.to_owned(), estimate, over));
        };
        push("all", "", found.over_switches, "switches");
        if let Some(estimate) = found.over_seeds {
            push("all", "", estimate, "seeds");
        }
        for at in &found.switches {
            push(&at.found.switch, &at.found.task, at.mean, "seeds");
        }
    }
    Columns::of(&rows)
        .text("difference", "difference", |row| row.0.clone())
        .text("switch", "switch", |row| row.1.clone())
        .text("task", "second task", |row| row.2.clone())
        .estimate("rgain", "in RGain", Possible::ANYTHING, |row| Some(row.3))
        .count("n", "n", |row| row.3.n as u64)
        .text("interval_over", "n and interval are over", |row| row.4.to_owned())
        .table(
            format!("differences-{module}-{preset}"),
            format!("Differences in RGain with {module}, preset {preset}"),
            format!("Each difference is of two runs with the same seed. {OVER_SWITCHES}"),
        )
}
