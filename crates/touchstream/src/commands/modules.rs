//! `touchstream modules`: the table of modules.

use crate::stdio::{print_json, print_line};
use crate::text_table::aligned;
use anyhow::Result;
use clap::Args;
use serde::Serialize;
use touchstream_agents::paper;
use touchstream_env::task::find_task;
use touchstream_modules::module::{MODULES, ModuleKind};

#[derive(Args)]
pub struct ModulesArgs {
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Row {
    id: &'static str,
    paper_name: &'static str,
    convolutions: Vec<&'static str>,
    bottleneck: Option<&'static str>,
    layers: &'static str,
    size: &'static str,
    depth: usize,
    units_sr: usize,
    units_mts: usize,
    units_loc: usize,
}

pub fn run(args: &ModulesArgs) -> Result<()> {
    let rows: Vec<Row> = MODULES.iter().map(row).collect::<Result<_>>()?;
    if args.json {
        return print_json(&rows);
    }
    let head = ["id", "in the paper", "bottleneck", "layers", "units SR", "MTS", "LOC"].map(str::to_owned);
    let lines = rows.iter().map(|row| {
        [
            row.id.to_owned(),
            row.paper_name.to_owned(),
            match (row.convolutions.is_empty(), row.bottleneck) {
                (false, _) => format!("1 x 1: {}", row.convolutions.join(", ")),
                (true, bottleneck) => bottleneck.unwrap_or("late").to_owned(),
            },
            format!("{} x {}", row.depth, row.layers),
            row.units_sr.to_string(),
            row.units_mts.to_string(),
            row.units_loc.to_string(),
        ]
    });
    let table: Vec<_> = std::iter::once(head).chain(lines).collect();
    print_line!("{}", aligned(&table).trim_end());
    Ok(())
}

fn row(kind: &ModuleKind) -> Result<Row> {
    let units = |task: &str| -> Result<usize> { Ok(paper::units(find_task(task)?.paradigm(), kind)) };
    Ok(Row {
        id: kind.id,
        paper_name: kind.paper_name,
        convolutions: kind.convolutions.iter().map(|nonlinearity| nonlinearity.name()).collect(),
        bottleneck: kind.bottleneck.map(|nonlinearity| nonlinearity.name()),
        layers: kind.layers.name(),
        size: kind.size.name(),
        depth: kind.default_depth(),
        units_sr: units("sr-2way")?,
        units_mts: units("mts-2way-stationary")?,
        units_loc: units("localization")?,
    })
}
