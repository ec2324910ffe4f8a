//! `touchstream report`: a study's figures, tables and page, from its folders alone.

use crate::commands::study::read_spec;
use crate::say::say;
use crate::study::report::{study_report, write_report};
use anyhow::Result;
use clap::Args;
use serde::Serialize;
use std::path::PathBuf;
use touchstream_lab::study::StudyFolder;

#[derive(Args)]
pub struct ReportArgs {
    /// The study's folder; it may be under way
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Where the report goes [default: DIR/report]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print where everything is as JSON
    #[arg(long)]
    json: bool,
}

/// What was written.
#[derive(Serialize)]
struct Written {
    page: String,
    n_complete: u64,
    n_failed: u64,
    n_running: u64,
    n_missing: u64,
}

pub fn run(args: &ReportArgs) -> Result<()> {
    let folder = StudyFolder::at(&args.folder);
    let spec = read_spec(&folder)?;
    let report = study_report(&folder, &spec)?;
    let out = args.out.clone().unwrap_or_else(|| folder.report());
    let page = write_report(&report, &out)?;
    let progress = &report.page.progress;
    if args.json {
        let written = Written {
            page: page.display().to_string(),
            n_complete: progress.n_done,
            n_failed: progress.n_failed,
            n_running: progress.n_running,
            n_missing: progress.n_missing,
        };
        say!("{}", serde_json::to_string_pretty(&written)?);
        return Ok(());
    }
    if !progress.is_complete() {
        say!(
            "partial: {} of {} runs, {} failed, {} running",
            progress.n_done,
            progress.n_total(),
            progress.n_failed,
            progress.n_running
        );
    }
    if !report.page.lead.is_empty() {
        say!("{}", report.page.lead);
    }
    say!("figures  {}", out.join("figures").display());
    say!("tables   {}", out.join("tables").display());
    say!("page     {}  (open it in a browser)", page.display());
    Ok(())
}
