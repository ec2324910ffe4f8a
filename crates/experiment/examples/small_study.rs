//! A small study without the program: two modules on one task, two seeds each, followed by their events and reported.
//!
//!     cargo run --release -p touchstream-experiment --example small_study -- FOLDER

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use touchstream_experiment::run::CHECKPOINT_EVERY;
use touchstream_experiment::study::report::{ReportPlace, study_report, write_report};
use touchstream_experiment::study::{
    LEASE, NamedStudy, Scale, Start, StudyFolder, StudySpec, WorkOptions, begin, cells_of, named_study,
};
use touchstream_experiment::{Event, Watch};

/// Prints runs as they end, and counts the steps that they learned.
#[derive(Default)]
struct Follower {
    n_steps: AtomicU64,
}

impl Watch for Follower {
    fn on(&self, event: Event<'_>) {
        match event {
            Event::StudyStarted { cells, n_threads } => {
                println!("{} runs on {n_threads} threads", cells.len());
            }
            Event::StudyRunAdvanced { n_steps, .. } => {
                self.n_steps.fetch_add(n_steps, Ordering::Relaxed);
            }
            Event::StudyRunEnded { name, .. } => println!("ended: {name}"),
            Event::Note(note) => println!("note: {note}"),
            _ => {}
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args_os().nth(1).map_or_else(|| PathBuf::from("small-study"), PathBuf::from);
    let folder = StudyFolder::at(folder);
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let spec = StudySpec {
        modules: names(&["ems", "none-relu-small"]),
        tasks: names(&["sr-2way"]),
        seeds: vec![1, 2],
        ..named_study(NamedStudy::Modules, Scale::Smoke)
    };
    let start = Start::by_arguments(std::env::args().skip(1), "an example");
    let spec = begin(&folder, &spec.checked()?, &start)?;

    let follower = Follower::default();
    let must_stop = AtomicBool::new(false);
    let options = WorkOptions {
        folder: &folder,
        n_threads: 2,
        keeps_weights: false,
        lease: LEASE,
        checkpoint_every: CHECKPOINT_EVERY,
        scheduler_job: None,
    };
    let cells = cells_of(&spec)?;
    let summary = options.work(&cells.iter().collect::<Vec<_>>(), &must_stop, &follower)?;
    println!(
        "{} of {} runs are complete, {} steps learned",
        summary.tally.n_complete,
        summary.tally.n_jobs,
        follower.n_steps.load(Ordering::Relaxed)
    );

    let report = study_report(&folder, &spec, &follower)?;
    println!("{}", write_report(&report, ReportPlace::Study(&folder))?.display());
    Ok(())
}
