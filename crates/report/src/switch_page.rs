//! The page of switches: curves after the switch, votes, and what old modules were worth.

use crate::area_plot::{Area, Stack, area_plot};
use crate::curve_plot::{Line, Plot, curve_plot};
use crate::page::{Fact, HEAD, escaped, facts_list};

/// One switch.
#[derive(Clone, Debug, Default)]
pub struct SwitchSection {
    /// `switch-13: sr-2way, then sr-2way+class-reversal`.
    pub title: String,
    /// What uniform touches earn, where geometry alone tells.
    pub chance: Option<f64>,
    /// Learning curves after the switch, one a way of learning, bands over seeds.
    pub curves: Vec<Curve>,
    /// A row a way of learning: its name, area, gains with intervals, n.
    pub gains: Vec<[String; 5]>,
    /// Votes, one a way of voting.
    pub votes: Vec<VoteSeries>,
    /// The share of old modules over time.
    pub reuse: Vec<Curve>,
}

/// A named line: step, value, and half of the band's height around it.
#[derive(Clone, Debug, Default)]
pub struct Curve {
    /// In the legend.
    pub name: String,
    /// Points.
    pub points: Vec<(f64, f64, f64)>,
}

/// Votes of one way of voting.
#[derive(Clone, Debug, Default)]
pub struct VoteSeries {
    /// Which way.
    pub name: String,
    /// When.
    pub steps: Vec<f64>,
    /// For each stage, its name and the shares of each voter.
    pub stages: Vec<(String, Vec<VoterShares>)>,
}

/// One voter's share over time.
#[derive(Clone, Debug, Default)]
pub struct VoterShares {
    /// Who.
    pub name: String,
    /// The CSS class of its area: `first` for an old module, `third` for a transformed one, `second` for the new one.
    pub class: &'static str,
    /// One a step.
    pub shares: Vec<f64>,
}

/// Colours of lines, in order.
const CLASSES: [&str; 7] = ["second", "first", "third", "fourth", "fifth", "sixth", "seventh"];

fn lines(curves: &[Curve], first_class: usize) -> Vec<Line<'_>> {
    let classes = CLASSES.iter().cycle().skip(first_class);
    let lines = curves.iter().zip(classes);
    lines.map(|(Curve { name, points }, class)| Line { name, class, points }).collect()
}

/// The page as HTML.
pub fn switch_page(title: &str, facts: &[Fact], switches: &[SwitchSection]) -> String {
    let mut html = String::from(HEAD);
    html.push_str(&format!("<title>{0}</title>\n<h1>{0}</h1>\n", escaped(title)));
    html.push_str(&facts_list(facts));
    html.push_str(
        "<p class=caption>RGain: area under the curve after the switch, over that of a module from scratch, minus 1; it \
         shrinks with the horizon. TGain: the largest difference in reward over the time it took, a thousand steps. \
         Intervals: Student's, 95 %, over seeds. Bands: one standard error over seeds.</p>\n",
    );
    switches.iter().for_each(|switch| html.push_str(&section(switch)));
    html.push_str("</html>\n");
    html
}

fn section(switch: &SwitchSection) -> String {
    let mut html = format!("<section><h2>{}</h2>\n", escaped(&switch.title));
    let x_label = "steps after the switch";
    html.push_str(&curve_plot(&Plot {
        x_label,
        y_label: "validation reward a trial",
        lines: &lines(&switch.curves, 0),
        level: switch.chance.map(|chance| (chance, "uniform touches")),
        marks: &[],
    }));
    html.push_str("<table><tr><th>learned by<th>area<th>RGain<th>TGain<th>n</tr>\n");
    for row in &switch.gains {
        let cells: String = row.iter().map(|cell| format!("<td>{}", escaped(cell))).collect();
        html.push_str(&format!("<tr>{cells}</tr>\n"));
    }
    html.push_str("</table>\n");
    switch.votes.iter().for_each(|votes| html.push_str(&vote_plots(votes)));
    if !switch.reuse.is_empty() {
        html.push_str(&curve_plot(&Plot {
            x_label,
            y_label: "share of the old module, mean over stages",
            lines: &lines(&switch.reuse, 1),
            level: None,
            marks: &[],
        }));
    }
    html.push_str("</section>\n");
    html
}

pub(crate) fn vote_plots(votes: &VoteSeries) -> String {
    let mut html = format!("<p class=caption>Votes, {}: ", escaped(&votes.name));
    // The stage with the most voters names them all.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_shows_curves_gains_and_votes() {
        let voter = |name: &str, class, shares: &[f64]| VoterShares {
            name: name.into(),
            class,
            shares: shares.to_vec(),
        };
        let switch = SwitchSection {
            title: "a <b>".into(),
            chance: Some(0.5),
            curves: vec![Curve { name: "scratch".into(), points: vec![(0.0, 0.5, 0.0), (10.0, 0.7, 0.1)] }],
            gains: vec![["layer", "0.7", "+0.2 ± 0.1", "+0.3", "3"].map(String::from)],
            votes: vec![VoteSeries {
                name: "layer".into(),
                steps: vec![0.0, 10.0],
                stages: vec![(
                    "layer1".into(),
                    vec![voter("old-1", "first", &[0.5, 0.9]), voter("new", "second", &[0.5, 0.1])],
                )],
            }],
            reuse: vec![Curve { name: "layer".into(), points: vec![(0.0, 0.5, 0.0), (10.0, 0.9, 0.0)] }],
        };
        let html = switch_page("switches", &[], &[switch]);
        assert_eq!(html.matches("<svg").count(), 3);
        assert!(html.contains("a &lt;b&gt;") && html.contains("+0.2 ± 0.1") && html.contains("old-1"));
    }
}
