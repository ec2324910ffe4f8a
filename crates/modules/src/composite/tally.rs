//! Mean votes during learning.

use crate::composite::layout::StageVotes;

/// Shares of all stages, one stage after another, summed over the steps of all batches.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ShareTally {
    pub sums: Vec<f64>,
    pub n_steps: u64,
}

impl ShareTally {
    pub fn clear(&mut self) {
        self.sums.fill(0.0);
        self.n_steps = 0;
    }

    /// `None` before the first batch.
    pub fn means(&self) -> Option<Vec<f64>> {
        (self.n_steps > 0).then(|| self.sums.iter().map(|sum| sum / self.n_steps as f64).collect())
    }
}

/// Each voter's share at each stage, `[n_stages][n_voters]`, from shares in the order of [`ShareTally`]. With unit voting, the
/// mean over units.
pub fn voter_shares(shares: &[f64], votes: &[StageVotes]) -> Vec<Vec<f64>> {
    let mut rest = shares;
    let of_stage = |votes: &StageVotes| {
        let (of_stage, after) = rest.split_at(votes.n_shares());
        rest = after;
        let n_each = votes.n_shares() / votes.n_voters();
        of_stage.chunks_exact(n_each).map(|shares| shares.iter().sum::<f64>() / n_each as f64).collect()
    };
    votes.iter().map(of_stage).collect()
}
