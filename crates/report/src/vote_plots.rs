//! Plots of votes during training: the vote share of every voter at every stage.

use crate::area_plot::{Area, Stack, area_plot};
use crate::page::escaped;

/// Vote shares of one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VoteSeries {
    /// Shown above the plots.
    pub name: String,
    pub steps: Vec<f64>,
    /// Name and voters of each stage.
    pub stages: Vec<(String, Vec<VoterShares>)>,
}

/// One voter's share at each step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VoterShares {
    pub name: String,
    /// Index of its module: old ones first, then the new one.
    pub module: usize,
    /// CSS class of its area.
    pub class: &'static str,
    pub shares: Vec<f64>,
}

impl VoteSeries {
    /// The vote share of each module at the last step, a mean over stages.
    pub fn final_shares(&self) -> Vec<f64> {
        let mut shares = Vec::new();
        for voter in self.stages.iter().flat_map(|(_, voters)| voters) {
            shares.resize(shares.len().max(voter.module + 1), 0.0);
            shares[voter.module] += voter.shares.last().copied().unwrap_or(0.0) / self.stages.len() as f64;
        }
        shares
    }
}

pub(crate) fn vote_plots(votes: &VoteSeries) -> String {
    let mut html = format!("<p class=caption>{}: ", escaped(&votes.name));
    // The stage with the most voters names them all.
    let voters = votes.stages.iter().max_by_key(|(_, voters)| voters.len());
    for VoterShares { name, class, .. } in voters.map_or(&[][..], |(_, voters)| voters) {
        html.push_str(&format!("<span class=\"key {class}\">{}</span> ", escaped(name)));
    }
    html.push_str("</p>\n<div class=trials>\n");
    for (title, voters) in &votes.stages {
        let areas: Vec<Area<'_>> = voters
            .iter()
            .map(|VoterShares { name, class, shares, .. }| Area { name, class, shares })
            .collect();
        html.push_str(&area_plot(&Stack { title, steps: &votes.steps, areas: &areas }));
    }
    html.push_str("</div>\n");
    html
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_a_module_are_summed_and_averaged_over_stages() {
        let voter = |module, last| VoterShares { module, shares: vec![0.0, last], ..VoterShares::default() };
        let stages = vec![
            ("layer1".into(), vec![voter(0, 0.25), voter(0, 0.25), voter(1, 0.5)]),
            ("readout".into(), vec![voter(0, 1.0), voter(1, 0.0)]),
        ];
        assert_eq!(VoteSeries { stages, ..VoteSeries::default() }.final_shares(), [0.75, 0.25]);
    }
}
