//! Learning rates that a study of them chose.

use crate::commands::study::read_spec;
use crate::study::cell::cells_of;
use crate::study::records::Records;
use anyhow::{Result, bail};
use std::collections::{BTreeMap, BTreeSet};
use touchstream_findings::findings;
use touchstream_lab::study::StudyFolder;

/// The best rate of each module on each task.
pub fn chosen_rates(folder: &StudyFolder) -> Result<BTreeMap<String, BTreeMap<String, f64>>> {
    let spec = read_spec(folder)?;
    if spec.presets.len() > 1 {
        bail!("{}: rates were looked for under several presets; one is needed", folder.path().display());
    }
    let cells = cells_of(&spec)?;
    let records = Records::read(folder, &cells.iter().map(|cell| cell.name.clone()).collect())?;
    let found: BTreeSet<&str> = records.runs.iter().map(|run| run.name.as_str()).collect();
    let n_missing = cells.iter().filter(|cell| !found.contains(cell.name.as_str())).count();
    if n_missing > 0 {
        bail!(
            "{}: {n_missing} of {} runs are missing; rates are chosen from all of them",
            folder.path().display(),
            cells.len()
        );
    }
    let found = findings(&records.run_records(&spec), &[]);
    let mut rates: BTreeMap<String, BTreeMap<String, f64>> = BTreeMap::new();
    for one in found.presets.iter().flat_map(|preset| &preset.learning_rates) {
        if let Some(rate) = one.best.learning_rate {
            rates.entry(one.module.clone()).or_default().insert(one.task.clone(), rate);
        }
    }
    if rates.is_empty() {
        bail!("{} is no study of learning rates", folder.path().display());
    }
    Ok(rates)
}
