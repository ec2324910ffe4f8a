//! Votes over time.

use serde::{Deserialize, Serialize};
use touchstream_modules::composite::{StageVotes, Voter, voter_shares};
use touchstream_modules::module::Structure;

/// How was voted since the row before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VoteRow {
    /// Steps learned.
    pub step: u64,
    /// Which of the stream's tasks was being learned, from 1.
    pub lesson: u64,
    /// Mean shares of all stages, one stage's after another's.
    pub shares: Vec<f64>,
}

/// The votes of one lesson.
pub struct LessonVotes<'a> {
    /// Of all modules.
    pub structure: &'a Structure,
    /// Of each stage.
    pub votes: &'a [StageVotes],
    /// Over time.
    pub rows: &'a [VoteRow],
}

/// A voter's name in files.
pub fn voter_name(voter: Voter) -> String {
    match voter {
        Voter::Old(module) => format!("old-{}", module + 1),
        Voter::Transformed(module) => format!("old-{}-transformed", module + 1),
        Voter::New => "new".into(),
    }
}

impl LessonVotes<'_> {
    /// `step,lesson,stage,voter,share`, without a head line; of votes on units, means over units.
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

    /// `step,lesson,stage,voter,unit,share`, without a head line; nothing where whole layers are voted on.
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
                    for (unit, share) in shares.by_ref().take(votes.n_numbers).enumerate() {
                        let (step, lesson) = (row.step, row.lesson);
                        text.push_str(&format!("{step},{lesson},{},{name},{unit},{share}\n", stage.name));
                    }
                }
            }
        }
        text
    }

    /// How much is reused, in each row.
    pub fn reuse(&self) -> Vec<f64> {
        self.rows.iter().map(|row| reuse(&row.shares, self.votes)).collect()
    }
}

/// The share of old modules, mean over stages: whatever the new module, which stands last, has not.
pub fn reuse(shares: &[f64], votes: &[StageVotes]) -> f64 {
    let shares = voter_shares(shares, votes);
    let of_stages = shares.iter().map(|shares| 1.0 - shares.last().copied().unwrap_or(1.0));
    of_stages.sum::<f64>() / shares.len() as f64
}

/// The head line of [`LessonVotes::csv_lines`].
pub const VOTES_HEAD: &str = "step,lesson,stage,voter,share\n";
/// The head line of [`LessonVotes::unit_csv_lines`].
pub const UNIT_VOTES_HEAD: &str = "step,lesson,stage,voter,unit,share\n";
