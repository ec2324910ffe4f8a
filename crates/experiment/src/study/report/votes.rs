//! Votes after switches, of the runs that recorded them.

use crate::config::Choice;
use crate::error::Result;
use crate::study::records::CompleteRun;
use crate::vote_series::read_votes;
use std::collections::BTreeMap;
use touchstream_analysis::{RunKind, SwitchMethod};
use touchstream_report::sections::vote_section::{SwitchVotes, section};
use touchstream_report::study::study_page::StudySection;
use touchstream_report::vote_plots::VoteSeries;

/// For every method and switch, the votes of each seed.
type VotesOfSwitches<'a> = BTreeMap<(SwitchMethod, &'a str), Vec<VoteSeries>>;

/// One section per preset and module. Methods with other initial values than the preset's are omitted: a sweep of these
/// is shown in tables.
pub fn sections(runs: &[CompleteRun]) -> Result<Vec<StudySection>> {
    let mut modules: BTreeMap<(&str, String), VotesOfSwitches<'_>> = BTreeMap::new();
    for run in runs.iter().filter(|run| run.failure.is_none()) {
        let RunKind::Second { switch, way, .. } = &run.facts.kind else { continue };
        if way.voting().is_none_or(|voting| voting.initial.is_some()) {
            continue;
        }
        if let Some(votes) = read_votes(&run.files)? {
            let switches = modules.entry((run.facts.preset.name(), run.method())).or_default();
            switches.entry((*way, switch)).or_default().push(votes);
        }
    }
    let of_module = |((preset, module), switches): ((&str, String), VotesOfSwitches<'_>)| {
        let votes = switches.into_iter().map(|((method, switch), seeds)| SwitchVotes {
            switch: switch.to_owned(),
            method,
            seeds,
        });
        section(preset, &module, votes.collect())
    };
    Ok(modules.into_iter().filter_map(of_module).collect())
}
