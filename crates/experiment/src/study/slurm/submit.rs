//! Submits the missing runs of a study as job arrays.

use crate::config::default_cache_dir;
use crate::error::{Result, bail};
use crate::study::StudyFolder;
use crate::study::cell::Cell;
use crate::study::damaged::{set_damaged_aside, to_be_done};
use crate::study::slurm::array::{Array, answer_of};
use crate::study::slurm::queue::queue_of;
use crate::study::slurm::record::{Submission, note_submission, read_submissions};
use crate::study::slurm::settings::SlurmOptions;
use crate::watch::Watch;
use std::path::Path;
use std::process::Command;
use touchstream_analysis::RunKind;

/// Submits an array of bases, and an array of all other runs, which waits for the first.
pub fn submit(
    folder: &StudyFolder,
    study: &str,
    cells: &[Cell],
    options: &SlurmOptions,
    n_jobs: u16,
    cache: Option<&Path>,
    watch: &dyn Watch,
) -> Result<Vec<Submission>> {
    options.check()?;
    // An absolute path: jobs run in another folder, and nodes may have other home folders.
    let cache = cache.map(Path::to_owned).or_else(default_cache_dir);
    let cache = cache.map(std::path::absolute).transpose()?;
    // If two processes submit at once, the second waits and then sees the tasks of the first.
    let lock = folder.lock()?;
    let before = read_submissions(folder)?;
    let n_active = queue_of(&before)?.n_active();
    if n_active > 0 {
        bail!(
            Slurm,
            "{n_active} tasks of this study are still queued or running (`touchstream study status {0}`); \
             wait, or `touchstream study cancel {0}` first",
            folder.path().display()
        );
    }
    // Runs that are no longer readable are submitted again.
    let cells: Vec<&Cell> = cells.iter().collect();
    let complete = set_damaged_aside(folder, &cells, watch)?;
    let missing = to_be_done(folder, &cells, &complete);
    let is_base = |cell: &&&Cell| cell.facts.kind == RunKind::Base;
    let bases: Vec<&Cell> = missing.iter().filter(is_base).copied().collect();
    let mut others: Vec<&Cell> = missing.iter().filter(|cell| !is_base(cell)).copied().collect();
    // Runs on the same task share features: neighbours in the list are executed by the same process, which opens these
    // once.
    others.sort_by(|a, b| (a.facts.seed, &a.facts.task).cmp(&(b.facts.seed, &b.facts.task)));
    let mut arrays: Vec<(&str, usize, Vec<Vec<String>>)> = Vec::new();
    for (what, cells) in [("bases", bases), ("runs", others)] {
        let names: Vec<String> = cells.iter().map(|cell| cell.name.clone()).collect();
        let size = options.runs_of_a_task(names.len(), n_jobs);
        let tasks: Vec<Vec<String>> = names.chunks(size).map(<[String]>::to_vec).collect();
        if !tasks.is_empty() {
            arrays.push((what, names.len(), tasks));
        }
    }
    if let Some(most) = arrays.iter().map(|(_, _, tasks)| tasks.len()).max() {
        check_size(most)?;
    }
    if arrays.is_empty() {
        return Ok(Vec::new());
    }
    folder.change(
        &lock,
        |name| name.starts_with("slurm"),
        || {
            let mut submitted: Vec<Submission> = Vec::new();
            for (what, n_runs, tasks) in arrays {
                let after = submitted.last().map(|submission| submission.job_id);
                let n_tasks = tasks.len();
                let array =
                    Array { folder, what, study, tasks, options, n_jobs, cache: cache.as_deref(), after };
                let (job_id, list) = array.submit(before.len() + submitted.len() + 1)?;
                let submission = Submission {
                    job_id,
                    what: what.to_owned(),
                    n_tasks,
                    n_runs,
                    list,
                    words: options.clone(),
                    n_jobs,
                    cache: cache.clone(),
                };
                note_submission(folder, &submission)?;
                submitted.push(submission);
            }
            Ok(submitted)
        },
    )
}

/// Refuses arrays larger than the cluster allows, before anything is submitted.
fn check_size(n_tasks: usize) -> Result<()> {
    let config = answer_of(Command::new("scontrol").args(["show", "config"]))?;
    let max = config.lines().find_map(|line| {
        let (key, value) = line.split_once('=')?;
        (key.trim() == "MaxArraySize").then(|| value.trim().parse::<usize>().ok())?
    });
    match max {
        // The largest possible index is MaxArraySize - 1.
        Some(max) if n_tasks >= max => bail!(
            Slurm,
            "{n_tasks} tasks are more than this cluster allows in an array (MaxArraySize {max}); increase --runs-per-task"
        ),
        _ => Ok(()),
    }
}
