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
    /// CSS class of its area.
    pub class: &'static str,
    pub shares: Vec<f64>,
}

pub(crate) fn vote_plots(votes: &VoteSeries) -> String {
    let mut html = format!("<p class=caption>Votes, {}: ", escaped(&votes.name));
    // The stage with the most voters contains all of them.
    let voters = votes.stages.iter().max_by_key(|(_, voters)| voters.len());
    for VoterShares { name, class, .. } in voters.map_or(&[][..], |(_, voters)| voters) {
        html.push_str(&format!("<span class=\"key {class}\">{}</span> ", escaped(name)));
    }
    html.push_str("</p>\n<div class=trials>\n");
    for (title, voters) in &votes.stages {
        let areas: Vec<Area<'_>> =
            voters.iter().map(|VoterShares { name, class, shares }| Area { name, class, shares }).collect();
        html.push_str(&area_plot(&Stack { title, steps: &votes.steps, areas: &areas }));
    }
    html.push_str("</div>\n");
    html
}
