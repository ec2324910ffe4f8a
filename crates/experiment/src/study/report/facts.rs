//! How a study was made: facts for its report.

use crate::config::Choice;
use crate::error::Result;
use crate::study::StudyFolder;
use crate::study::provenance::starts_of;
use crate::study::records::{CompleteRun, Records};
use crate::study::spec::StudySpec;
use crate::study::touches::CountedTouches;
use std::collections::BTreeSet;

/// Name and value of each fact; if runs differ in a value, all values.
pub fn facts_of(folder: &StudyFolder, spec: &StudySpec, records: &Records) -> Result<Vec<(String, String)>> {
    let all = |of: fn(&CompleteRun) -> &str| {
        let values: BTreeSet<&str> = records.runs.iter().map(of).collect();
        values.into_iter().collect::<Vec<_>>().join("; ")
    };
    let starts = starts_of(folder)?;
    let commands: BTreeSet<&str> = starts.iter().map(|start| start.command.as_str()).collect();
    let commits: BTreeSet<&str> = starts.iter().map(|start| start.commit.as_str()).collect();
    let list = |values: BTreeSet<&str>| values.into_iter().collect::<Vec<_>>().join("; ");
    let word = |word: &Option<String>, or: &str| word.clone().unwrap_or_else(|| or.to_owned());
    let of_tasks: Vec<String> = spec
        .settings_of
        .iter()
        .filter_map(|(task, words)| Some(format!("{} for {task}", words.data.as_deref()?)))
        .collect();
    let images = [vec![word(&spec.settings.data, "gallery")], of_tasks].concat().join(", ");
    let facts = [
        ("study", spec.name.clone()),
        ("scale", spec.scale.name().to_owned()),
        ("seeds", spec.seeds.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")),
        ("images", images),
        ("hash of images", all(|run| &run.identity.data_hash)),
        ("encoder", word(&spec.settings.encoder, "compact")),
        ("hash of encoder", all(|run| &run.identity.encoder_hash)),
        ("settings", spec.said_about_agents()?.join(", ")),
        ("touches at the screen's edge", CountedTouches::of(&records.runs).text()),
        ("arithmetic", all(|run| &run.identity.rounding)),
        ("touchstream", all(|run| &run.identity.program)),
        ("commit", list(commits)),
        ("command", list(commands)),
    ];
    let mut facts = facts.map(|(name, value)| (name.to_owned(), value)).to_vec();
    if records.lacks_manifests() {
        let unknown = "none in some runs, which an older program wrote: whether those are intact is unknown";
        facts.push(("manifest".into(), unknown.into()));
    }
    Ok(facts)
}
