//! Votes over time, as CSV.

use serde::{Deserialize, Serialize};
use touchstream_modules::composite::{StageVotes, Voter, voter_shares};
use touchstream_modules::module::Structure;

/// Mean votes since the previous row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VoteRow {
    pub step: u64,
    /// Index of the stream's current task, from 1.
    pub lesson: u64,
    /// Mean vote shares of all stages, concatenated.
    pub shares: Vec<f64>,
}

/// The votes during one task.
pub struct LessonVotes<'a> {
    pub structure: &'a Structure,
    pub votes: &'a [StageVotes],
    pub rows: &'a [VoteRow],
}

/// The name of a voter in files.
pub fn voter_name(voter: Voter) -> String {
    match voter {
        Voter::Old(module) => format!("old-{}", module + 1),
        Voter::Transformed(module) => format!("old-{}-transformed", module + 1),
        Voter::New => "new".into(),
    }
}

impl LessonVotes<'_> {
    /// `step,lesson,stage,voter,share`, without a header; for unit votes, means over units.
    pub fn csv_lines(&self) -> String {
        let mut text = String::new();
        for row in self.rows {
            let shares = voter_shares(&row.shares, self.votes);
            for ((stage, votes), shares) in self.structure.stages().iter().zip(self.votes).zip(shares) {
                for (voter, share) in shares.iter().enumerate() {
                    let voter = voter_name(votes.voter(voter));
                    text.push_str(&format!("{},{},{},{voter},{share}\n", row.step, row.lesson, stage.name));
                }
            }
        }
        text
    }

    /// `step,lesson,stage,voter,unit,share`, without a header; empty for layer votes.
    pub fn unit_csv_lines(&self) -> String {
        let mut text = String::new();
        if !self.votes.iter().any(StageVotes::is_by_unit) {
            return text;
        }
        for row in self.rows {
            let mut shares = row.shares.iter();
            for (stage, votes) in self.structure.stages().iter().zip(self.votes) {
                for voter in 0..votes.n_voters() {
                    let name = voter_name(votes.voter(voter));
                    for (unit, share) in shares.by_ref().take(votes.n_activations).enumerate() {
                        let (step, lesson) = (row.step, row.lesson);
                        text.push_str(&format!("{step},{lesson},{},{name},{unit},{share}\n", stage.name));
                    }
                }
            }
        }
        text
    }

    pub fn reuse(&self) -> Vec<f64> {
        self.rows.iter().map(|row| reuse(&row.shares, self.votes)).collect()
    }
}

/// Vote share of the old modules, mean over stages: 1 minus the share of the new module, which is the last voter.
pub fn reuse(shares: &[f64], votes: &[StageVotes]) -> f64 {
    let shares = voter_shares(shares, votes);
    let of_stages = shares.iter().map(|shares| 1.0 - shares.last().copied().unwrap_or(1.0));
    of_stages.sum::<f64>() / shares.len() as f64
}

pub const VOTES_HEAD: &str = "step,lesson,stage,voter,share\n";
pub const UNIT_VOTES_HEAD: &str = "step,lesson,stage,voter,unit,share\n";
