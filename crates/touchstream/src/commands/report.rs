//! `touchstream report`: a study's figures, tables and page, from its run folders.

use crate::stdio::{print_json, print_line};
use crate::terminal::Terminal;
use anyhow::Result;
use clap::Args;
use serde::Serialize;
use std::path::{Path, PathBuf};
use touchstream_experiment::study::report::{ReportPlace, study_report, write_report};
use touchstream_experiment::study::{ENDING, OpenStudy, cells_of, unnamed_runs, warn_of_unnamed};
use touchstream_experiment::{Event, Watch};

#[derive(Args)]
pub struct ReportArgs {
    /// The study's folder, complete or not, or a packed study
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// The report's folder [default: DIR/report, or FILE-report for a packed study]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print the paths and numbers of runs as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Written {
    page: String,
    n_complete: u64,
    n_failed: u64,
    n_running: u64,
    n_missing: u64,
}

pub fn run(args: &ReportArgs) -> Result<()> {
    let terminal = Terminal::default();
    let study = OpenStudy::at(&args.folder)?;
    let folder = &study.folder;
    let spec = study.read_spec(&args.folder)?;
    let report = study_report(folder, &spec, &terminal)?;
    if report.lacks_manifests {
        terminal.on(Event::WithoutManifest { path: &args.folder });
    }
    warn_of_unnamed(&args.folder, &unnamed_runs(folder, &cells_of(&spec)?)?, &terminal);
    let chosen = args.out.clone().or_else(|| study.is_packed().then(|| report_next_to(&args.folder)));
    let place = chosen.as_deref().map_or(ReportPlace::Study(folder), ReportPlace::Folder);
    let page = write_report(&report, place)?;
    let out = chosen.as_deref().map_or_else(|| folder.report(), Path::to_owned);
    let progress = &report.page.progress;
    if args.json {
        let written = Written {
            page: page.display().to_string(),
            n_complete: progress.n_done,
            n_failed: progress.n_failed,
            n_running: progress.n_running,
            n_missing: progress.n_missing,
        };
        return print_json(&written);
    }
    if !progress.is_complete() {
        print_line!(
            "partial: {} of {} runs, {} failed, {} running",
            progress.n_done,
            progress.n_total(),
            progress.n_failed,
            progress.n_running
        );
    }
    if !report.page.lead.is_empty() {
        print_line!("{}", report.page.lead);
    }
    print_line!("figures  {}", out.join("figures").display());
    print_line!("tables   {}", out.join("tables").display());
    print_line!("page     {}  (open it in a browser)", page.display());
    Ok(())
}

/// `results/modules-report` for `results/modules.tar.gz`.
fn report_next_to(file: &Path) -> PathBuf {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    file.with_file_name(format!("{}-report", name.strip_suffix(ENDING).unwrap_or(&name)))
}
