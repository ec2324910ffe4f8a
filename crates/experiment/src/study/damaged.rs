//! Moves complete runs that are no longer usable aside, so that they are repeated.

use crate::error::{Context, Result, bail};
use crate::run::{RunFolder, Stage, Trained};
use crate::study::StudyFolder;
use crate::study::cell::{Cell, missing_of};
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
    let Records { unreadable, out_of_reach, .. } = Records::read(folder, &names)?;
    if let Some((name, problem)) = unreadable.iter().find(|(name, _)| out_of_reach.contains(name)) {
        bail!(Folder, "{name} cannot be read now, but may be intact: {problem}");
    }
    set_aside(folder, unreadable, watch)?;
    set_aside(folder, useless_bases(folder, cells)?, watch)?;
    Ok(folder.complete()?.intersection(&names).cloned().collect())
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
    let status = base.read_status().ok().flatten();
    if status.is_none_or(|status| status.stage != Stage::Finished) {
        return Ok(None);
    }
    match Trained::read(base) {
        Ok(Some(_)) => Ok(None),
        Ok(None) => Ok(Some("it has no checkpoint".to_owned())),
        Err(error) if error.is_out_of_reach() => Err(error),
        Err(error) => Ok(Some(error.text())),
    }
}
