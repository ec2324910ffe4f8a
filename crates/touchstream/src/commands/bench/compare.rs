//! Two binaries in turn, each in processes of its own, and the ratios of their CPU times.

use crate::stdio::{print_json, print_line, warn_user};
use crate::text_table::aligned;
use anyhow::{Context, Result, bail};
use clap::Args;
use serde::Serialize;
use serde_json::Value;
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use touchstream_analysis::statistics::{Estimate, Interval};

#[derive(Args)]
pub struct CompareArgs {
    /// Compare with an older binary: both measure in turn, and ratios of CPU time are printed
    #[arg(long, value_name = "OLD_BINARY", conflicts_with = "python")]
    pub compare: Option<PathBuf>,
    /// With --compare: how often each binary measures
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u64).range(2..=1000))]
    pub pairs: u64,
}

/// Where a benchmark's JSON keeps its rows, the fields that name a row, and rates, the best measure first.
pub struct Rates {
    pub rows: &'static str,
    pub keys: &'static [&'static str],
    pub rates: &'static [&'static str],
}

/// What two binaries took for the same work.
#[derive(Serialize)]
pub struct Compared {
    pub row: String,
    /// A rate, or seconds of CPU time, as `unit` says.
    pub unit: &'static str,
    /// Medians over the pairs.
    pub old: f64,
    pub new: f64,
    /// Old time over new time: the geometric mean over the pairs.
    pub ratio: f64,
    /// 95 %, Student's, on the logarithms.
    pub interval: Option<Interval>,
}

impl Compared {
    /// `times_old` and `times_new` belong together in pairs; `figure` turns a time into what is printed.
    pub fn new(
        row: String,
        unit: &'static str,
        old: &[f64],
        new: &[f64],
        figure: fn(f64) -> f64,
    ) -> Result<Self> {
        let logarithms: Vec<f64> = old.iter().zip(new).map(|(old, new)| (old / new).ln()).collect();
        let mean = Estimate::of(&logarithms).with_context(|| format!("{row}: no time was measured"))?;
        let interval = mean.interval.map(|it| Interval { low: it.low.exp(), high: it.high.exp() });
        let (old, new) = (figure(median(old)), figure(median(new)));
        Ok(Self { row, unit, old, new, ratio: mean.value.exp(), interval })
    }
}

fn median(numbers: &[f64]) -> f64 {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

/// Runs this benchmark with both binaries in turn and prints the ratios.
pub fn compare_rates(old: &Path, pairs: u64, json: bool, rates: &Rates) -> Result<()> {
    let arguments = child_arguments(env::args_os().skip(1));
    let binaries = [old.to_path_buf(), this_binary()?];
    // Per binary, one measurement per pair.
    let mut found: [Vec<Value>; 2] = Default::default();
    for side in alternate(pairs) {
        found[side].push(measured(&binaries[side], &arguments, rates)?);
    }
    let compared =
        rows(&found[1][0]).map(|row| compared(row, &found, rates, old)).collect::<Result<Vec<_>>>()?;
    print(&compared, pairs, json)
}

/// Whose turn it is, 0 for the old binary: each pair in the opposite order, so that slow drifts cancel.
pub fn alternate(pairs: u64) -> impl Iterator<Item = usize> {
    (0..pairs).flat_map(|pair| if pair % 2 == 0 { [0, 1] } else { [1, 0] })
}

pub fn this_binary() -> Result<PathBuf> {
    env::current_exe().context("the path of this program is unknown")
}

/// This call's arguments without those of the comparison, for JSON.
fn child_arguments(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let (mut kept, mut skip_next) = (Vec::new(), false);
    for argument in arguments {
        let text = argument.to_string_lossy();
        let is_ours = ["--compare", "--pairs"].into_iter().find(|name| text.starts_with(name));
        match is_ours {
            _ if skip_next => skip_next = false,
            Some(name) => skip_next = text == name,
            None if text == "--json" => {}
            None => kept.push(argument),
        }
    }
    kept.push("--json".into());
    kept
}

/// The rows of one measurement.
fn measured(binary: &Path, arguments: &[OsString], rates: &Rates) -> Result<Value> {
    let output = Command::new(binary)
        .args(arguments)
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("cannot start {}", binary.display()))?;
    if !output.status.success() {
        bail!("{} failed ({}); its message is above", binary.display(), output.status);
    }
    let mut json: Value = serde_json::from_slice(&output.stdout)
        .with_context(|| format!("{} did not print JSON", binary.display()))?;
    match json.get_mut(rates.rows) {
        Some(rows) => Ok(rows.take()),
        None => Ok(json),
    }
}

fn rows(measured: &Value) -> impl Iterator<Item = &Value> {
    measured.as_array().into_iter().flatten()
}

fn compared(row: &Value, found: &[Vec<Value>; 2], rates: &Rates, old: &Path) -> Result<Compared> {
    let label =
        rates.keys.iter().map(|key| format!("{key} {}", plain(&row[key]))).collect::<Vec<_>>().join(", ");
    let same = |other: &&Value| rates.keys.iter().all(|key| other[key] == row[key]);
    let Some(old_row) = rows(&found[0][0]).find(same) else {
        bail!("{} does not measure this row: {label}", old.display());
    };
    let Some(unit) = rates.rates.iter().find(|&&rate| [row, old_row].iter().all(|row| row[rate].is_f64()))
    else {
        bail!("{} reports none of these for {label}: {}", old.display(), rates.rates.join(", "));
    };
    if *unit != rates.rates[0] {
        warn_user!("{label}: the old binary does not report {}; compared by {unit}", rates.rates[0]);
    }
    let times = |measurements: &[Value]| -> Vec<f64> {
        let rows = measurements.iter().filter_map(|measured| rows(measured).find(same));
        rows.filter_map(|row| row[unit].as_f64()).map(|rate| 1.0 / rate).collect()
    };
    Compared::new(label, unit, &times(&found[0]), &times(&found[1]), |time| 1.0 / time)
}

/// Text without quotes.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

pub fn print(compared: &[Compared], pairs: u64, json: bool) -> Result<()> {
    if json {
        return print_json(compared);
    }
    let mut table = vec![["", "unit", "old", "new", "ratio", "95 % interval"].map(String::from)];
    for row in compared {
        let digits = if row.new < 100.0 { 2 } else { 0 };
        table.push([
            row.row.clone(),
            row.unit.replace('_', " "),
            format!("{:.digits$}", row.old),
            format!("{:.digits$}", row.new),
            format!("{:.3}", row.ratio),
            row.interval.map_or_else(String::new, |it| format!("{:.3} to {:.3}", it.low, it.high)),
        ]);
    }
    print_line!(
        "{}\nratio: old time / new time, over {pairs} pairs; above 1, the new binary is faster",
        aligned(&table)
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_gets_the_arguments_without_those_of_the_comparison() {
        let typed = "bench modules --compare old --modules ems --pairs=3 --json --compare=old --secs 1";
        let kept = child_arguments(typed.split(' ').map(OsString::from));
        assert_eq!(
            kept,
            ["bench", "modules", "--modules", "ems", "--secs", "1", "--json"].map(OsString::from)
        );
    }

    #[test]
    fn a_ratio_is_old_time_over_new_time() {
        let compared =
            Compared::new(String::new(), "s", &[2.0, 4.0, 2.2], &[1.0, 2.0, 1.1], |secs| secs).unwrap();
        assert!((compared.ratio - 2.0).abs() < 1e-9);
        assert_eq!((compared.old, compared.new), (2.2, 1.1));
        let interval = compared.interval.unwrap();
        assert!((interval.low - 2.0).abs() < 1e-9 && (interval.high - 2.0).abs() < 1e-9);
    }

    #[test]
    fn a_row_that_the_old_binary_lacks_is_an_error() {
        let rates = Rates { rows: "modules", keys: &["module"], rates: &["steps_per_sec"] };
        let old = serde_json::json!([{"module": "ems", "steps_per_sec": 100.0}]);
        let new = serde_json::json!([{"module": "no-symm", "steps_per_sec": 100.0}]);
        let error =
            compared(&new[0], &[vec![old], vec![new.clone()]], &rates, Path::new("old")).err().unwrap();
        assert_eq!(error.to_string(), "old does not measure this row: module no-symm");
    }
}
