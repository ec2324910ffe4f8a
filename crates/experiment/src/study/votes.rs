//! Votes over time, read back from a run's folder.

use crate::error::{Context, Error, Result, bail};
use std::fs;
use std::path::Path;
use touchstream_report::page::module_class;
use touchstream_report::switch_page::{VoteSeries, VoterShares};

/// Shares of every voter at every stage, to be drawn; `None` where nothing was voted on.
pub fn read_votes(path: &Path, name: &str) -> Result<Option<VoteSeries>> {
    if !path.exists() {
        return Ok(None);
    }
    let text = fs::read_to_string(path).at(path)?;
    let mut series = VoteSeries { name: name.to_owned(), ..VoteSeries::default() };
    for (idx, line) in text.lines().enumerate().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let [step, _lesson, stage, voter, share] = cells[..] else {
            bail!(Folder, "{}: line {}: {} cells instead of 5", path.display(), idx + 1, cells.len());
        };
        let number = |word: &str| {
            word.parse::<f64>()
                .map_err(Error::other)
                .with_context(|| format!("{}: line {}: `{word}` is not a number", path.display(), idx + 1))
        };
        let (step, share) = (number(step)?, number(share)?);
        if series.steps.last() != Some(&step) {
            series.steps.push(step);
        }
        let stages = &mut series.stages;
        let at = stages.iter().position(|(name, _)| name == stage).unwrap_or_else(|| {
            stages.push((stage.to_owned(), Vec::new()));
            stages.len() - 1
        });
        let voters = &mut stages[at].1;
        let at = voters.iter().position(|known| known.name == voter).unwrap_or_else(|| {
            voters.push(VoterShares {
                name: voter.to_owned(),
                class: class_of(voter, 1),
                shares: Vec::new(),
            });
            voters.len() - 1
        });
        voters[at].shares.push(share);
    }
    Ok(Some(series))
}

/// The colour of a voter's area, with `n_old` old modules.
pub fn class_of(voter: &str, n_old: usize) -> &'static str {
    let old = voter.strip_prefix("old-").map(|old| old.strip_suffix("-transformed").unwrap_or(old));
    let module =
        old.and_then(|old| old.parse::<usize>().ok()).map_or(n_old, |number| number.saturating_sub(1));
    module_class(module, voter.ends_with("-transformed"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_has_the_same_colour_after_every_switch() {
        assert_eq!(class_of("new", 2), class_of("old-3", 5));
        assert_eq!(class_of("old-1-transformed", 1), module_class(0, true));
        assert_ne!(class_of("old-1", 1), class_of("new", 1));
    }
}
