//! Votes, counted while learning.

use crate::composite::layout::StageVotes;

/// Shares of all stages, one stage's `n_shares` after another's, summed over the steps that were learned from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ShareTally {
    /// Sums.
    pub sums: Vec<f64>,
    /// Over so many steps.
    pub n_steps: u64,
}

impl ShareTally {
    /// Starts anew.
    pub fn clear(&mut self) {
        self.sums.fill(0.0);
        self.n_steps = 0;
    }

    /// Means; `None` if nothing was learned.
    pub fn means(&self) -> Option<Vec<f64>> {
        (self.n_steps > 0).then(|| self.sums.iter().map(|sum| sum / self.n_steps as f64).collect())
    }
}

/// From shares of all stages, as [`ShareTally`] has them, to each voter's at each stage, `[n_stages][n_voters]`; of
/// votes on units, the mean over units.
pub fn voter_shares(shares: &[f64], votes: &[StageVotes]) -> Vec<Vec<f64>> {
    let mut rest = shares;
    let of_stage = |votes: &StageVotes| {
        let (of_stage, behind) = rest.split_at(votes.n_shares());
        rest = behind;
        let n_each = votes.n_shares() / votes.n_voters();
        of_stage.chunks_exact(n_each).map(|shares| shares.iter().sum::<f64>() / n_each as f64).collect()
    };
    votes.iter().map(of_stage).collect()
}
