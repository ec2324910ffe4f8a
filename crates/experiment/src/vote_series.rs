//! Votes in the form that reports draw, from a run in memory or from the folder of a study's run.

use crate::curve::{LessonVotes, voter_name};
use crate::error::{Context, Error, Result, bail};
use crate::run::RunFolder;
use touchstream_modules::composite::{StageVotes, Voter, voter_shares};
use touchstream_report::page::module_class;
use touchstream_report::vote_plots::{VoteSeries, VoterShares};

/// The vote shares of every voter at every stage of a run in memory.
pub fn vote_series(name: &str, votes: &LessonVotes<'_>) -> VoteSeries {
    let steps = votes.rows.iter().map(|row| row.step as f64).collect();
    let at_steps: Vec<Vec<Vec<f64>>> =
        votes.rows.iter().map(|row| voter_shares(&row.shares, votes.votes)).collect();
    let stage = |(idx, stage): (usize, &StageVotes)| {
        let n_old =
            (0..stage.n_voters()).filter(|&voter| matches!(stage.voter(voter), Voter::Old(_))).count();
        let voter = |voter: usize| VoterShares {
            class: class_of(&voter_name(stage.voter(voter)), n_old),
            name: voter_name(stage.voter(voter)),
            shares: at_steps.iter().map(|stages| stages[idx][voter]).collect(),
        };
        (votes.structure.stages()[idx].name.clone(), (0..stage.n_voters()).map(voter).collect())
    };
    VoteSeries { name: name.to_owned(), steps, stages: votes.votes.iter().enumerate().map(stage).collect() }
}

/// The vote shares of every voter at every stage from a run's `votes.csv`; `None` if there is no such file.
pub fn read_votes(folder: &RunFolder) -> Result<Option<VoteSeries>> {
    let path = folder.votes_csv();
    if !folder.has(&path) {
        return Ok(None);
    }
    let text = folder.read_text(&path).with_context(|| path.display().to_string())?;
    let mut series = VoteSeries::default();
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

/// The CSS class of a voter's area, with `n_old` old modules.
fn class_of(voter: &str, n_old: usize) -> &'static str {
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
