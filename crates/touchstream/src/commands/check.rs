//! `touchstream check`: whether results are what they were when they were written.

use crate::stdio::print_line;
use crate::text_table::aligned;
use anyhow::{Result, bail};
use clap::Args;
use serde::Serialize;
use std::path::{Path, PathBuf};
use touchstream_experiment::check::{Checked, Integrity, check};

#[derive(Args)]
pub struct CheckArgs {
    /// Folders of runs, studies and reports, folders of such folders, or packed studies
    #[arg(value_name = "DIR|FILE", required = true)]
    paths: Vec<PathBuf>,
    /// Print every result as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Summary {
    n_intact: usize,
    n_damaged: usize,
    n_no_manifest: usize,
    n_unfinished: usize,
    n_foreign: usize,
    results: Vec<Checked>,
}

pub fn run(args: &CheckArgs) -> Result<()> {
    let mut results = Vec::new();
    for path in &args.paths {
        results.extend(check(path)?);
    }
    let count = |state| results.iter().filter(|result| result.state == state).count();
    let summary = Summary {
        n_intact: count(Integrity::Intact),
        n_damaged: count(Integrity::Damaged),
        n_no_manifest: count(Integrity::NoManifest),
        n_unfinished: count(Integrity::Unfinished),
        n_foreign: count(Integrity::Foreign),
        results,
    };
    match args.json {
        true => print_line!("{}", serde_json::to_string_pretty(&summary)?),
        false => print_line!("{}", text(&summary)),
    }
    match summary.n_damaged {
        0 => Ok(()),
        1 => bail!("1 result is damaged"),
        n => bail!("{n} results are damaged"),
    }
}

/// A row per damaged file, foreign file, and result that is not intact; then the numbers.
fn text(summary: &Summary) -> String {
    let row =
        |state: &str, path: &Path, about: &str| [state.into(), path.display().to_string(), about.into()];
    let mut rows: Vec<[String; 3]> = Vec::new();
    for result in &summary.results {
        for problem in &result.problems {
            rows.push(row("damaged", &problem.file, &problem.problem));
        }
        match result.state {
            Integrity::Intact | Integrity::Damaged => {}
            Integrity::NoManifest => rows.push(row("no manifest", &result.path, "an older program wrote it")),
            Integrity::Unfinished => rows.push(row("unfinished", &result.path, "")),
            Integrity::Foreign => rows.push(row("foreign", &result.path, "nothing of touchstream")),
        }
        rows.extend(result.foreign.iter().map(|path| row("foreign", path, "not a file of this result")));
    }
    let Summary { n_intact, n_damaged, n_no_manifest, n_unfinished, n_foreign, .. } = summary;
    let numbers = format!(
        "{n_intact} intact, {n_damaged} damaged, {n_no_manifest} without manifest, {n_unfinished} unfinished, {n_foreign} foreign"
    );
    if rows.is_empty() { numbers } else { format!("{}\n{numbers}", aligned(&rows).trim_end()) }
}
