//! A sweep of a controller's initial values: the gain of each setting over switches, and the effect of each value.

use crate::sections::colours::Styles;
use crate::sections::over_switches::OVER_SWITCHES;
use crate::sections::tables::{CLIPPING_NOTE, Possible, mark};
use crate::study::figure::Figure;
use crate::study::intervals::{IntervalGroup, IntervalRow, Intervals, Mark};
use crate::study::table::{Columns, Table};
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
fn typed(value: f32) -> Option<f64> {
    value.to_string().parse().ok()
}

fn setting_table(preset: &str, module: &str, settings: &[Setting]) -> Table {
    let initial = |factor_idx: usize| {
        let (_, value): Factor = FACTORS[factor_idx];
        move |setting: &Setting| typed(value(&setting.values))
    };
    Columns::of(settings)
        .number("mu_first", "mu, first stage", initial(0))
        .number("mu_later", "mu, later stages", initial(1))
        .number("bias_first", "bias, first stage", initial(2))
        .number("bias_later", "bias, later stages", initial(3))
        .truth("is_default", "default", |setting| setting.is_default)
        .counted("rgain", "mean RGain, interval over switches", Possible::GAIN, |setting| {
            Some(setting.gain.over_switches)
        })
        .count("n_positive", "positive at", |setting| setting.gain.n_positive as u64)
        .counted("rgain_of_seeds", "mean RGain, interval over seeds", Possible::GAIN, |setting| {
            setting.gain.over_seeds
        })
        .table(
            format!("controller-{module}-{preset}"),
            format!("Initial values of the controller with {module}, the best first, preset {preset}"),
            format!("{OVER_SWITCHES} {CLIPPING_NOTE}"),
        )
}

/// One value of a factor and its effect.
struct FactorValue<'a> {
    factor: &'static str,
    value: f32,
    is_default: bool,
    n_settings: usize,
    gain: Option<OverSwitches<'a>>,
    /// The value that it is compared with; `None` for that value itself.
    baseline: Option<f32>,
    n_pairs: usize,
    effect: Option<OverSwitches<'a>>,
}

/// One row per value of each factor, compared with the default's value (or with the first, if the default was not run).
fn factor_table(
    preset: &str,
    module: &str,
    switches: &[&SwitchFindings],
    settings: &[Setting],
    default: &InitialValues,
) -> Table {
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
            rows.push(FactorValue {
                factor: name,
                value,
                is_default: value == usual,
                n_settings: ways.len(),
                gain: gain_over_switches(switches, &ways),
                baseline: (value != against).then_some(against),
                n_pairs: pairs.len(),
                effect: difference_over_switches(switches, &pairs),
            });
        }
    }
    Columns::of(&rows)
        .text("factor", "initial value", |row| row.factor.to_owned())
        .number("value", "is", |row| typed(row.value))
        .truth("is_default", "default", |row| row.is_default)
        .count("n_settings", "settings", |row| row.n_settings as u64)
        .estimate("rgain", "mean RGain", Possible::GAIN, |row| Some(row.gain.as_ref()?.over_switches))
        .number("baseline", "compared with", |row| row.baseline.and_then(typed))
        .estimate("effect", "difference, interval over switches", Possible::ANYTHING, |row| {
            Some(row.effect.as_ref()?.over_switches)
        })
        .count("n_pairs", "pairs of settings", |row| row.n_pairs as u64)
        .count("n_switches", "switches", |row| {
            row.gain.as_ref().map_or(0, |gain| gain.switches.len()) as u64
        })
        .counted("effect_of_seeds", "difference, interval over seeds", Possible::ANYTHING, |row| {
            row.effect.as_ref()?.over_seeds
        })
        .table(
            format!("controller-factors-{module}-{preset}"),
            format!("What each initial value does with {module}, preset {preset}"),
            format!(
                "Difference: RGain of settings with this value minus that of the same settings with the value it is compared with, with the \
                 same seeds, averaged over pairs of settings. {OVER_SWITCHES}"
            ),
        )
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
        let csv = table.csv();
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
