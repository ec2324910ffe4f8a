//! `touchstream study status`: progress of a study, here and in the cluster's queue.

use crate::stdio::{print_json, print_line};
use crate::terminal::Terminal;
use anyhow::Result;
use clap::Args;
use std::path::PathBuf;
use touchstream_experiment::study::{StudyFolder, StudyStatus, read_spec, status_of, warn_of_unnamed};

#[derive(Args)]
pub struct StatusArgs {
    /// The study's folder
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: &StatusArgs) -> Result<()> {
    let folder = StudyFolder::at(&args.folder);
    let spec = read_spec(&folder)?;
    let terminal = Terminal::default();
    let status = status_of(&folder, &spec, &terminal)?;
    if args.json {
        return print_json(&status);
    }
    let StudyStatus { n_runs, n_complete, n_failed, n_running, n_waiting, n_attempts, .. } = status;
    print_line!(
        "{n_complete} of {n_runs} runs complete, {n_failed} of them failed; {n_running} running, {n_waiting} waiting; {n_attempts} attempts"
    );
    for run in &status.running {
        let job = run.job.as_ref().map_or_else(String::new, |job| format!(", job {job}"));
        print_line!("  {}: step {} on {}{job}, attempt {}", run.name, run.n_steps, run.host, run.attempt);
    }
    for (what, runs) in [
        ("failed", &status.failed),
        ("cannot be read", &status.unreadable),
        ("ignored", &status.strangers),
        ("gave up", &status.given_up),
    ] {
        for (name, reason) in runs.iter().take(10) {
            print_line!("  {what}: {name}: {reason}");
        }
    }
    warn_of_unnamed(folder.path(), &status.unnamed, &terminal);
    if let Some(queue) = &status.queue {
        let states: Vec<String> = queue.states.iter().map(|(state, n)| format!("{n} {state}")).collect();
        print_line!(
            "cluster: {}",
            if states.is_empty() { "nothing queued".to_owned() } else { states.join(", ") }
        );
        if !queue.held.is_empty() {
            print_line!("held after a failed start; release with: scontrol release {}", queue.held.join(" "));
        }
    }
    Ok(())
}
