//! Votes after a switch: the vote share of every voter at every stage.

use crate::sections::switch_section::rank;
use crate::sections::tables::n_words;
use crate::study::band_line::BandPoint;
use crate::study::figure::Figure;
use crate::study::panels::{Panel, PanelCurve, Panels};
use crate::study::study_page::StudySection;
use crate::vote_plots::{VoteSeries, VoterShares};
use std::collections::BTreeSet;
use touchstream_analysis::SwitchMethod;

/// The votes of one method at one switch.
pub struct SwitchVotes {
    pub switch: String,
    pub method: SwitchMethod,
    /// The votes of each seed.
    pub seeds: Vec<VoteSeries>,
}

/// One figure per method, with a row of panels per switch; `None` if there are no votes.
pub fn section(preset: &str, module: &str, mut votes: Vec<SwitchVotes>) -> Option<StudySection> {
    votes.sort_by_key(|votes| (rank(&votes.switch), votes.switch.clone()));
    let methods: BTreeSet<SwitchMethod> = votes.iter().map(|votes| votes.method).collect();
    let figure = |method: SwitchMethod| {
        let votes: Vec<&SwitchVotes> = votes.iter().filter(|votes| votes.method == method).collect();
        figure(preset, module, method, &votes)
    };
    (!votes.is_empty()).then(|| StudySection {
        id: format!("votes-{module}-{preset}"),
        title: format!("Votes with {module}, preset {preset}"),
        text: "The vote share of each voter at each stage; the shares of a stage sum to 1. With unit voting, means over units."
            .into(),
        figures: methods.into_iter().map(figure).collect(),
        ..StudySection::default()
    })
}

fn figure(preset: &str, module: &str, method: SwitchMethod, votes: &[&SwitchVotes]) -> Figure {
    let stages = || votes.iter().flat_map(|votes| &votes.seeds).flat_map(|seed| &seed.stages);
    // The stage with the most voters contains all of them.
    let voters = stages().map(|(_, voters)| voters).max_by_key(|voters| voters.len());
    let names: Vec<String> = voters.into_iter().flatten().map(|voter| voter.name.clone()).collect();
    let panels = votes.iter().flat_map(|votes| {
        let first = votes.seeds.first();
        let stages = first.into_iter().flat_map(|first| first.stages.iter().enumerate());
        stages.map(|(stage_idx, (stage, voters))| {
            let curve = |voter: &VoterShares| PanelCurve {
                name_idx: names.iter().position(|name| *name == voter.name).unwrap_or(0),
                points: mean_shares(&votes.seeds, stage_idx, &voter.name),
                ..PanelCurve::default()
            };
            Panel {
                title: format!("{}: {stage}", votes.switch),
                curves: voters.iter().map(curve).collect(),
                ..Panel::default()
            }
        })
    });
    let panels: Vec<Panel> = panels.collect();
    let n_stages = votes.iter().flat_map(|votes| &votes.seeds).map(|seed| seed.stages.len()).max();
    Panels {
        id: format!("votes-{method}-{module}-{preset}"),
        title: format!("Votes, {method}: {module}, preset {preset}"),
        caption: format!(
            "Means over seeds, {}, since the previous evaluation.",
            n_words(votes.iter().map(|votes| votes.seeds.len()))
        ),
        x_label: "steps after the switch".into(),
        y_label: "vote share".into(),
        line_names: names,
        n_columns: n_stages,
        panels,
        ..Panels::default()
    }
    .figure()
}

/// The mean over the seeds that were evaluated at the same steps as the first.
fn mean_shares(seeds: &[VoteSeries], stage_idx: usize, voter: &str) -> Vec<BandPoint> {
    let steps = seeds.first().map_or(&[][..], |first| &first.steps);
    let shares_of = |seed: &VoteSeries| {
        let (_, voters) = seed.stages.get(stage_idx)?;
        voters.iter().find(|known| known.name == voter).map(|voter| voter.shares.clone())
    };
    let shares: Vec<Vec<f64>> =
        seeds.iter().filter(|seed| seed.steps == steps).filter_map(shares_of).collect();
    let point = |(idx, &step): (usize, &f64)| {
        let shares: Option<Vec<f64>> = shares.iter().map(|shares| shares.get(idx).copied()).collect();
        let shares = shares?;
        let mean = shares.iter().sum::<f64>() / shares.len() as f64;
        Some(BandPoint { x: step, y: mean, lower: mean, upper: mean })
    };
    steps.iter().enumerate().filter_map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_switch_has_a_row_with_a_panel_per_stage() {
        let seed = |new: f64| VoteSeries {
            steps: vec![0.0, 10.0],
            stages: ["layer1", "readout"]
                .map(|stage| {
                    let voter = |name: &str, share: f64| VoterShares {
                        name: name.into(),
                        shares: vec![0.5, share],
                        ..VoterShares::default()
                    };
                    (stage.to_owned(), vec![voter("old-1", 1.0 - new), voter("new", new)])
                })
                .to_vec(),
            ..VoteSeries::default()
        };
        assert_eq!(mean_shares(&[seed(0.25), seed(0.75)], 1, "old-1")[1].y, 0.5);
        assert_eq!(mean_shares(&[], 1, "old-1"), []);
        let votes = |switch: &str| SwitchVotes {
            switch: switch.into(),
            method: SwitchMethod::LAYER,
            seeds: vec![seed(0.25), seed(0.75)],
        };
        let section = section("default", "ems", vec![votes("switch-2"), votes("switch-1")]).unwrap();
        let svg = &section.figures[0].svg;
        let at = |text: &str| svg.find(&format!(">{text}</text>")).unwrap();
        assert!(
            at("switch-1: layer1") < at("switch-1: readout")
                && at("switch-1: readout") < at("switch-2: layer1")
        );
        assert_eq!(svg.matches("<polyline class=\"line").count(), 2 * 2 * 2);
        assert!(super::section("default", "ems", Vec::new()).is_none());
    }
}
