//! A sweep of a controller's initial values: the gain of each setting over switches, and the effect of each value.

use crate::sections::colours::Styles;
use crate::sections::over_switches::OVER_SWITCHES;
use crate::sections::tables::{
    CLIPPING_NOTE, Possible, counted_cells, counted_columns, figure_cells, figure_columns, mark,
};
use crate::study::figure::Figure;
use crate::study::intervals::{IntervalGroup, IntervalRow, Intervals, Mark};
use crate::study::table::{Cell, Table, TableColumn};
use touchstream_analysis::{
    InitialValues, OverSwitches, SwitchFindings, SwitchMethod, VotingMethod, difference_over_switches,
    gain_over_switches,
};

/// Name of one of a controller's initial values, and a function that reads it.
type Factor = (&'static str, fn(&InitialValues) -> f32);

const FACTORS: [Factor; 4] = [
    ("mu, first stage", |initial| initial.mu[0]),
    ("mu, later stages", |initial| initial.mu[1]),
    ("bias, first stage", |initial| initial.bias[0]),
    ("bias, later stages", |initial| initial.bias[1]),
];

/// One setting of a controller's initial values, and its gain.
struct Setting<'a> {
    way: SwitchMethod,
    values: InitialValues,
    is_default: bool,
    gain: OverSwitches<'a>,
}

impl Setting<'_> {
    fn label(&self) -> String {
        let [mu, bias] = [self.values.mu, self.values.bias].map(|[first, later]| format!("{first} {later}"));
        format!("mu {mu}, bias {bias}{}", if self.is_default { " (default)" } else { "" })
    }
}

/// The figure and tables of a sweep around a preset's default; `None` if there are fewer than two settings.
pub fn sweep(
    preset: &str,
    module: &str,
    switches: &[&SwitchFindings],
    ways: &[SwitchMethod],
    styles: &Styles,
    default: InitialValues,
) -> Option<(Figure, [Table; 2])> {
    let setting = |&way: &SwitchMethod| {
        let initial = way.voting()?.initial;
        // Only methods that differ in nothing but their initial values.
        let is_compared = way
            == initial.map_or(SwitchMethod::LAYER, |initial| {
                SwitchMethod::Voting(VotingMethod::layer_from(initial))
            });
        let values = is_compared.then_some(initial.unwrap_or(default))?;
        let gain = gain_over_switches(switches, &[way])?;
        Some(Setting { way, values, is_default: values == default, gain })
    };
    let mut settings: Vec<Setting> = ways.iter().filter_map(setting).collect();
    if settings.len() < 2 {
        return None;
    }
    settings.sort_by(|a, b| b.gain.over_switches.value.total_cmp(&a.gain.over_switches.value));
    let tables = [
        setting_table(preset, module, &settings),
        factor_table(preset, module, switches, &settings, &default),
    ];
    Some((setting_figure(preset, module, &settings, styles), tables))
}

fn setting_figure(preset: &str, module: &str, settings: &[Setting], styles: &Styles) -> Figure {
    let n_switches = settings.iter().map(|setting| setting.gain.switches.len()).max().unwrap_or(0);
    let row = |setting: &Setting| {
        // With a single switch, the interval is over seeds.
        let over_seeds = setting.gain.over_seeds.filter(|_| n_switches == 1);
        let figure = over_seeds.unwrap_or(setting.gain.over_switches);
        IntervalRow {
            label: setting.label(),
            estimates: vec![Mark {
                series_idx: setting.is_default.then(|| styles.of(&SwitchMethod::LAYER.to_string())),
                ..mark(&figure, Possible::GAIN)
            }],
        }
    };
    let over = if n_switches == 1 { "seeds" } else { "switches" };
    Intervals {
        id: format!("controller-{module}-{preset}"),
        title: format!("RGain by initial values: {module}, preset {preset}"),
        caption: format!(
            "Mean RGain over {n_switches} switches, the best setting first, with Student's 95 % interval over n {over}. Each pair: at the first \
             stage, at later stages. In colour: the default. {CLIPPING_NOTE}"
        ),
        x_label: "mean RGain".into(),
        reference: Some((0.0, "no gain".into())),
        groups: vec![IntervalGroup { heading: String::new(), rows: settings.iter().map(row).collect() }],
        ..Intervals::default()
    }
    .figure()
}

/// The decimal number as typed (0.1), not the nearest 32-bit number in full precision.
fn typed(value: f32) -> Cell {
    Cell::Number(value.to_string().parse().ok())
}

fn setting_table(preset: &str, module: &str, settings: &[Setting]) -> Table {
    let mut columns = vec![
        TableColumn::number("mu_first", "mu, first stage"),
        TableColumn::number("mu_later", "mu, later stages"),
        TableColumn::number("bias_first", "bias, first stage"),
        TableColumn::number("bias_later", "bias, later stages"),
        TableColumn::truth("is_default", "default"),
    ];
    columns.extend(counted_columns("rgain", "mean RGain, interval over switches"));
    columns.push(TableColumn::count("n_positive", "positive at"));
    columns.extend(counted_columns("rgain_of_seeds", "mean RGain, interval over seeds"));
    let row = |setting: &Setting| {
        let mut cells: Vec<Cell> = FACTORS.iter().map(|(_, value)| typed(value(&setting.values))).collect();
        cells.push(Cell::Truth(setting.is_default));
        cells.extend(counted_cells(Some(&setting.gain.over_switches), Possible::GAIN));
        cells.push(Cell::Count(setting.gain.n_positive as u64));
        cells.extend(counted_cells(setting.gain.over_seeds.as_ref(), Possible::GAIN));
        cells
    };
    Table {
        id: format!("controller-{module}-{preset}"),
        title: format!("Initial values of the controller with {module}, the best first, preset {preset}"),
        note: format!("{OVER_SWITCHES} {CLIPPING_NOTE}"),
        columns,
        rows: settings.iter().map(row).collect(),
    }
}

/// One row per value of each factor, compared with the default's value (or with the first, if the default was not run).
fn factor_table(
    preset: &str,
    module: &str,
    switches: &[&SwitchFindings],
    settings: &[Setting],
    default: &InitialValues,
) -> Table {
    let mut columns = vec![
        TableColumn::text("factor", "initial value"),
        TableColumn::number("value", "is"),
        TableColumn::truth("is_default", "default"),
        TableColumn::count("n_settings", "settings"),
    ];
    columns.extend(figure_columns("rgain", "mean RGain"));
    columns.push(TableColumn::number("baseline", "compared with"));
    columns.extend(figure_columns("effect", "difference, interval over switches"));
    columns.push(TableColumn::count("n_pairs", "pairs of settings"));
    columns.push(TableColumn::count("n_switches", "switches"));
    columns.extend(counted_columns("effect_of_seeds", "difference, interval over seeds"));
    let mut rows = Vec::new();
    for (factor_idx, (name, value_of)) in FACTORS.iter().enumerate() {
        let mut values: Vec<f32> = settings.iter().map(|setting| value_of(&setting.values)).collect();
        values.sort_by(f32::total_cmp);
        values.dedup();
        // The effect of a factor that was not varied is unknown.
        if values.len() < 2 {
            continue;
        }
        let usual = value_of(default);
        let against = if values.contains(&usual) { usual } else { values[0] };
        let others = |setting: &Setting| {
            let others = FACTORS.iter().enumerate().filter(|(idx, _)| *idx != factor_idx);
            others.map(|(_, (_, value))| value(&setting.values)).collect::<Vec<f32>>()
        };
        for value in values {
            let with = || settings.iter().filter(move |setting| value_of(&setting.values) == value);
            let ways: Vec<SwitchMethod> = with().map(|setting| setting.way).collect();
            let partner = |setting: &Setting| {
                let is_partner =
                    |other: &&Setting| value_of(&other.values) == against && others(other) == others(setting);
                settings.iter().find(is_partner).map(|other| other.way)
            };
            let pairs: Vec<(SwitchMethod, SwitchMethod)> = with()
                .filter(|_| value != against)
                .filter_map(|setting| Some((setting.way, partner(setting)?)))
                .collect();
            let effect = difference_over_switches(switches, &pairs);
            let gain = gain_over_switches(switches, &ways);
            let mut cells = vec![
                Cell::Text((*name).to_owned()),
                typed(value),
                Cell::Truth(value == usual),
                Cell::Count(ways.len() as u64),
            ];
            cells.extend(figure_cells(gain.as_ref().map(|gain| &gain.over_switches), Possible::GAIN));
            cells.push(if value == against { Cell::Number(None) } else { typed(against) });
            cells.extend(figure_cells(
                effect.as_ref().map(|effect| &effect.over_switches),
                Possible::ANYTHING,
            ));
            cells.push(Cell::Count(pairs.len() as u64));
            cells.push(Cell::Count(gain.as_ref().map_or(0, |gain| gain.switches.len()) as u64));
            cells.extend(counted_cells(
                effect.as_ref().and_then(|effect| effect.over_seeds.as_ref()),
                Possible::ANYTHING,
            ));
            rows.push(cells);
        }
    }
    Table {
        id: format!("controller-factors-{module}-{preset}"),
        title: format!("What each initial value does with {module}, preset {preset}"),
        note: format!(
            "Difference: RGain of settings with this value minus that of the same settings with the value it is compared with, with the \
             same seeds, averaged over pairs of settings. {OVER_SWITCHES}"
        ),
        columns,
        rows,
    }
}

#[cfg(test)]
mod tests {
    use crate::sections::switch_section::tests::{found_of, rows_of, section_of};

    #[test]
    fn settings_are_sorted_and_each_factor_has_its_effect() {
        let ways = [
            ("scratch", 0.4),
            ("layer-mu-0.01-0.01-bias-0.1-0.1", 0.6),
            ("layer-mu-0.01-0.01-bias-0.1-0.5", 0.5),
            ("layer-mu-0.005-0.01-bias-0.1-0.1", 0.64),
            ("layer-mu-0.005-0.01-bias-0.1-0.5", 0.54),
            ("layer-plain", 0.9),
        ];
        let section = section_of(&found_of(&ways));
        let table = section.tables.iter().find(|table| table.id == "controller-ems-default").unwrap();
        let csv = table.csv().unwrap();
        let rows: Vec<Vec<&str>> = csv.lines().skip(1).map(|line| line.split(',').collect()).collect();
        // Voting without transformations is not part of the sweep.
        let values: Vec<[&str; 3]> = rows.iter().map(|row| [row[0], row[3], row[4]]).collect();
        let sorted = [
            ["0.005", "0.1", "false"],
            ["0.01", "0.1", "true"],
            ["0.005", "0.5", "false"],
            ["0.01", "0.5", "false"],
        ];
        assert_eq!(values, sorted, "{csv}");
        assert!(section.figures[0].svg.contains(">mu 0.01 0.01, bias 0.1 0.1 (default)</text>"));

        // If scratch has an area of 0.4, a difference of 0.1 in reward is 0.25 in RGain.
        for (factor, value, against, effect) in
            [("mu, first stage", "0.005", "0.01", 0.1), ("bias, later stages", "0.5", "0.1", -0.25)]
        {
            let rows = rows_of(&section, "controller-factors-ems-default", factor);
            let row = rows.iter().find(|row| row[1] == value).unwrap();
            assert_eq!((&*row[2], &*row[3], &*row[7]), ("false", "2", against));
            assert!((row[8].parse::<f64>().unwrap() - effect).abs() < 1e-6, "{row:?}");
            // Numbers of pairs of settings, switches and seeds.
            assert_eq!([&*row[11], &*row[12], &*row[16]], ["2", "2", "2"], "{row:?}");
            let usual = rows.iter().find(|row| row[1] == against).unwrap();
            assert_eq!((&*usual[2], &*usual[8]), ("true", ""));
        }
        assert!(rows_of(&section, "controller-factors-ems-default", "bias, first stage").is_empty());
    }
}
