//! Votes in the form that reports draw, from a run in memory or from the folder of a study's run.

use crate::curve::{LessonVotes, voter_name};
use crate::error::{Context, Error, Result, bail};
use crate::run::VerifiedRun;
use touchstream_modules::composite::{StageVotes, Voter, voter_shares};
use touchstream_report::page::module_class;
use touchstream_report::vote_plots::{VoteSeries, VoterShares};

/// The vote shares of every voter at every stage of a run in memory. `tasks` are the ids of the run's tasks so far, the
/// current one last.
pub fn vote_series(name: &str, votes: &LessonVotes<'_>, tasks: &[&str]) -> VoteSeries {
    let steps = votes.rows.iter().map(|row| row.step as f64).collect();
    let at_steps: Vec<Vec<Vec<f64>>> =
        votes.rows.iter().map(|row| voter_shares(&row.shares, votes.votes)).collect();
    let stage = |(idx, stage): (usize, &StageVotes)| {
        let n_old =
            (0..stage.n_voters()).filter(|&voter| matches!(stage.voter(voter), Voter::Old(_))).count();
        let voter = |voter: usize| VoterShares {
            class: class_of(&voter_name(stage.voter(voter)), n_old),
            name: shown_name(stage.voter(voter), n_old, tasks),
            module: match stage.voter(voter) {
                Voter::Old(module) | Voter::Transformed(module) => module,
                Voter::New => n_old,
            },
            shares: at_steps.iter().map(|stages| stages[idx][voter]).collect(),
        };
        (votes.structure.stages()[idx].name.clone(), (0..stage.n_voters()).map(voter).collect())
    };
    VoteSeries { name: name.to_owned(), steps, stages: votes.votes.iter().enumerate().map(stage).collect() }
}

/// `module 1 (sr-2way), transformed`
fn shown_name(voter: Voter, n_old: usize, tasks: &[&str]) -> String {
    let (module, is_new, suffix) = match voter {
        Voter::Old(module) => (module, false, ""),
        Voter::Transformed(module) => (module, false, ", transformed"),
        Voter::New => (n_old, true, ""),
    };
    // A run may begin with modules of earlier runs.
    let task = (module + tasks.len()).checked_sub(n_old + 1).and_then(|task| tasks.get(task));
    let details = match (is_new, task) {
        (true, _) => " (new)".into(),
        (false, Some(task)) => format!(" ({task})"),
        (false, None) => String::new(),
    };
    format!("module {}{details}{suffix}", module + 1)
}

/// The vote shares of every voter at every stage from a run's `votes.csv`; `None` if there is no such file.
pub fn read_votes(run: &VerifiedRun) -> Result<Option<VoteSeries>> {
    let path = run.folder().votes_csv();
    let Some(text) = run.read_text(&path)? else { return Ok(None) };
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
                module: module_of(voter, 1),
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
    module_class(module_of(voter, n_old), voter.ends_with("-transformed"))
}

fn module_of(voter: &str, n_old: usize) -> usize {
    let old = voter.strip_prefix("old-").map(|old| old.strip_suffix("-transformed").unwrap_or(old));
    old.and_then(|old| old.parse::<usize>().ok()).map_or(n_old, |number| number.saturating_sub(1))
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

    #[test]
    fn modules_are_named_by_their_task() {
        #[track_caller]
        fn check(voter: Voter, n_old: usize, wanted: &str) {
            assert_eq!(shown_name(voter, n_old, &["a", "b", "c"]), wanted);
        }
        check(Voter::Old(0), 2, "module 1 (a)");
        check(Voter::Transformed(1), 2, "module 2 (b), transformed");
        check(Voter::New, 2, "module 3 (new)");
        // One module from an earlier run.
        check(Voter::Old(0), 3, "module 1");
        check(Voter::Old(1), 3, "module 2 (a)");
    }
}
