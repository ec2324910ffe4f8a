//! `touchstream schedules`: lists the paper's switches, and checks schedule files.

use crate::stdio::{print_json, print_line, report_and_count};
use crate::text_table::aligned;
use anyhow::{Result, bail};
use clap::{Args, Subcommand};
use std::path::PathBuf;
use touchstream_env::schedule::{NAMED_SCHEDULES, Repeats, Schedule};
use touchstream_experiment::config::schedule_from_file;

#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct SchedulesArgs {
    #[command(subcommand)]
    action: Option<Action>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Subcommand)]
enum Action {
    /// Check schedule files and print their segments
    Check {
        /// Schedule files
        #[arg(value_name = "FILE", required = true)]
        files: Vec<PathBuf>,
    },
}

pub fn run(args: &SchedulesArgs) -> Result<()> {
    match &args.action {
        None if args.json => {
            let row = |row: &touchstream_env::schedule::NamedSchedule| serde_json::json!({ "id": row.id, "base": row.base, "switch": row.switch });
            let rows: Vec<_> = NAMED_SCHEDULES.iter().map(row).collect();
            print_json(&rows)?;
        }
        None => {
            let mut cells = vec![["id", "base task", "then"].map(String::from)];
            cells.extend(NAMED_SCHEDULES.iter().map(|row| [row.id, row.base, row.switch].map(String::from)));
            print_line!("{}", aligned(&cells).trim_end());
        }
        Some(Action::Check { files }) => check(files)?,
    }
    Ok(())
}

fn check(files: &[PathBuf]) -> Result<()> {
    let mut n_failed = 0;
    for file in files {
        let show = |file: &PathBuf| -> Result<()> {
            print_line!("{}: {}", file.display(), described(&schedule_from_file(file)?));
            Ok(())
        };
        report_and_count(show(file), &mut n_failed)?;
    }
    match n_failed {
        0 => Ok(()),
        n => bail!("{n} of {} schedule files cannot be used", files.len()),
    }
}

fn described(schedule: &Schedule) -> String {
    let mut text = format!("schedule `{}`\n", schedule.id());
    for segment in schedule.segments() {
        text.push_str(&format!("  {}, {}\n", segment.task.id(), segment.length));
    }
    if schedule.repeats() == Repeats::Yes {
        text.push_str("  then repeated from the start\n");
    }
    text.trim_end().to_owned()
}
