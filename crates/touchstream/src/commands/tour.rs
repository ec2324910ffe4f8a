//! `touchstream tour`: all tasks on one sheet and one page.

use crate::commands::preview::shoot_task;
use crate::commands::tasks::{chance_and_best, task_table};
use crate::settings_args::SourceArgs;
use crate::stdio::{print_line, warn_user};
use crate::terminal::Terminal;
use anyhow::Result;
use clap::Args;
use std::path::PathBuf;
use touchstream_env::seed::RunSeed;
use touchstream_env::stimuli::Split;
use touchstream_env::task::paper_tasks;
use touchstream_env::trial::N_EXACT_SCREENS;
use touchstream_experiment::config::needs_of;
use touchstream_experiment::listed_output::{Files, Replaced, write_listed};
use touchstream_experiment::{TaskRewards, rewards_of_tasks};
use touchstream_report::page::task_page;
use touchstream_report::sheet::{SheetStyle, contact_sheet};
use touchstream_stimuli::{SourceSpec, SplitCounts};

#[derive(Args, Clone, Debug, PartialEq)]
pub struct TourArgs {
    #[command(flatten)]
    source: SourceArgs,
    /// The folder to write tasks.png and tasks.html into
    #[arg(long, value_name = "DIR", default_value = "touchstream-out")]
    out: PathBuf,
    /// Seed of the trials
    #[arg(long, default_value_t = 0)]
    seed: u64,
}

/// A run may have a manifest of its own in the folder.
const MANIFEST: &str = "tour-manifest.json";

/// Few enough that the first tour takes seconds.
const FEW: SplitCounts = SplitCounts::new(118, 59);

pub fn run(args: &TourArgs) -> Result<()> {
    let mut how = args.source.how.0.clone();
    if args.source.data == SourceSpec::Gallery {
        how.objects = how.objects.or(Some(FEW));
        how.scenes = how.scenes.or(Some(FEW));
    }
    let opened = how.open(&args.source.data, needs_of(paper_tasks()), &Terminal::default())?;
    let tasks = rewards_of_tasks(Some(&opened), N_EXACT_SCREENS);
    let mut shots = Vec::new();
    for TaskRewards { task, exact, problem } in &tasks {
        if let Some(problem) = problem {
            warn_user!("skipped: {problem}");
        }
        let Some(exact) = exact else { continue };
        let mut shown = shoot_task(task, &opened.stimuli, Split::Train, RunSeed(args.seed), 4)?;
        shown.facts = chance_and_best(exact);
        shots.push(shown);
    }
    let sheet = contact_sheet(&shots, SheetStyle { divisor: 2, n_columns: 2 });
    let facts = [
        ("images".to_owned(), opened.manifest.source.clone()),
        ("content hash".to_owned(), opened.manifest.content_hash.clone()),
        ("seed".to_owned(), args.seed.to_string()),
        ("touchstream".to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
    ];
    let page = task_page("The tasks of the TouchStream", &facts, &shots)?;
    let files =
        Files::from([("tasks.png".into(), sheet.to_png()?), ("tasks.html".into(), page.into_bytes())]);
    write_listed(&files, &args.out, MANIFEST, Replaced::Listed)?;
    let (sheet_path, page_path) = (args.out.join("tasks.png"), args.out.join("tasks.html"));
    print_line!("{}", task_table(&tasks).trim_end());
    print_line!("\ndata {} {}", opened.manifest.source, opened.manifest.content_hash);
    print_line!("sheet {}\npage  {}  (open it in a browser)", sheet_path.display(), page_path.display());
    Ok(())
}
