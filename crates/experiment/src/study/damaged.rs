//! Moves complete runs that are no longer usable aside, so that they are repeated.

use crate::error::{Context, Result, bail};
use crate::run::{RunFolder, Stage, Trained, VerifiedRun};
use crate::study::StudyFolder;
use crate::study::cell::{Cell, missing_of};
use crate::study::intact_runs::damaged_runs;
use crate::study::records::Records;
use crate::watch::{Event, Watch};
use rayon::prelude::*;
use std::collections::BTreeSet;
use touchstream_analysis::RunKind;

/// The names of the complete runs among `cells`. Unreadable runs, and unusable bases that are still needed, are moved
/// aside first.
pub fn set_damaged_aside(
    folder: &StudyFolder,
    cells: &[&Cell],
    watch: &dyn Watch,
) -> Result<BTreeSet<String>> {
    let names: BTreeSet<String> = cells.iter().map(|cell| cell.name.clone()).collect();
    let Records { runs, mut unreadable, mut out_of_reach, .. } = Records::read(folder, &names)?;
    for (name, error) in damaged_runs(folder, runs.iter().map(|run| &run.files))? {
        if error.is_out_of_reach() {
            out_of_reach.insert(name.clone());
        }
        unreadable.push((name, error.text()));
    }
    if let Some((name, problem)) = unreadable.iter().find(|(name, _)| out_of_reach.contains(name)) {
        bail!(Folder, "{name} cannot be read now, but may be intact: {problem}");
    }
    set_aside(folder, unreadable, watch)?;
    set_aside(folder, useless_bases(folder, cells)?, watch)?;
    Ok(folder.complete()?.intersection(&names).cloned().collect())
}

/// The runs that are missing, in their order, and bases that were set aside, whether a missing run needs them or not.
pub fn to_be_done<'a>(
    folder: &StudyFolder,
    cells: &[&'a Cell],
    complete: &BTreeSet<String>,
) -> Vec<&'a Cell> {
    let missing: BTreeSet<&str> =
        missing_of(cells.iter().copied(), complete).into_iter().map(|cell| cell.name.as_str()).collect();
    let is_wanted = |cell: &&&Cell| {
        let was_set_aside =
            || !complete.contains(&cell.name) && folder.set_aside_before(&cell.name).is_some();
        missing.contains(cell.name.as_str()) || was_set_aside()
    };
    cells.iter().filter(is_wanted).copied().collect()
}

fn set_aside(folder: &StudyFolder, damaged: Vec<(String, String)>, watch: &dyn Watch) -> Result<()> {
    for (name, problem) in damaged {
        // Another process may have been faster.
        if let Some(aside) = folder.set_aside(&name)? {
            watch.on(Event::RunSetAside { name: &name, problem: &problem, aside: &aside });
        }
    }
    Ok(())
}

/// Complete bases with unreadable checkpoints that missing runs start from, each with the problem.
fn useless_bases(folder: &StudyFolder, cells: &[&Cell]) -> Result<Vec<(String, String)>> {
    let complete = folder.complete()?;
    let needed: BTreeSet<String> = missing_of(cells.iter().copied(), &complete)
        .into_iter()
        .filter_map(|cell| cell.job().needs)
        .collect();
    let bases: Vec<&Cell> = cells
        .iter()
        .copied()
        .filter(|cell| cell.facts.kind == RunKind::Base && needed.contains(&cell.name))
        .collect();
    let useless = bases.into_par_iter().filter(|cell| complete.contains(&cell.name)).map(|cell| {
        let problem = problem_of(&folder.run(&cell.name)).with_context(|| cell.name.clone())?;
        Ok(problem.map(|problem| (cell.name.clone(), problem)))
    });
    Ok(useless.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
}

/// The problem of a base's checkpoint, if any. A base that diverged needs no checkpoint.
fn problem_of(base: &RunFolder) -> Result<Option<String>> {
    let read = VerifiedRun::open(base.clone()).and_then(|run| {
        let is_finished = run.read_status()?.is_some_and(|status| status.stage == Stage::Finished);
        Ok(is_finished.then_some(run))
    });
    let Some(run) = read.ok().flatten() else { return Ok(None) };
    match Trained::read(&run) {
        Ok(Some(_)) => Ok(None),
        Ok(None) => Ok(Some("it has no checkpoint".to_owned())),
        Err(error) if error.is_out_of_reach() => Err(error),
        Err(error) => Ok(Some(error.text())),
    }
}
