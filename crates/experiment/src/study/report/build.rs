//! Builds a study's report from its folder.

use crate::config::{Choice, Preset, initial_values};
use crate::error::{Context, Result};
use crate::study::cell::{Cell, cells_of, missing_of};
use crate::study::own_files::BASELINES;
use crate::study::records::Records;
use crate::study::report::verdicts_of_study::verdicts_of;
use crate::study::report::{facts, pictures, votes};
use crate::study::spec::StudySpec;
use crate::study::{StudyFolder, Worker};
use crate::watch::{Event, Watch};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use touchstream_agents::AgentSettings;
use touchstream_analysis::{Baseline, Findings, PresetFindings, VerdictKind, findings};
use touchstream_env::task::find_task;
use touchstream_report::sections::{
    Colours, localization_section, order_section, rates_section, single_task_section, switch_section,
    verdict_table,
};
use touchstream_report::study::progress_banner::RunCounts;
use touchstream_report::study::study_page::{StudyPage, StudySection};
use touchstream_report::study::table::Table;
use touchstream_stimuli::ValidationPart;

/// The page of a study, and the analysis that it shows.
pub struct StudyReport {
    pub page: StudyPage,
    pub findings: Findings,
    pub verdicts: Table,
    /// Whether a run is of an older program, which wrote no manifests.
    pub lacks_manifests: bool,
}

/// Reads and analyses a study's folder; the report of a partial study lists what is missing.
pub fn study_report(folder: &StudyFolder, spec: &StudySpec, watch: &dyn Watch) -> Result<StudyReport> {
    let cells = cells_of(spec)?;
    let names: BTreeSet<String> = cells.iter().map(|cell| cell.name.clone()).collect();
    let records = Records::read(folder, &names)?;
    let found = findings(&records.run_records(spec), &baselines_or_none(folder, watch));
    let verdicts = verdicts_of(spec, &found.presets);
    let colours = Colours::of(&found.presets);
    let mut sections: Vec<StudySection> =
        found.presets.iter().flat_map(|preset| sections_of(spec, preset, &colours)).collect();
    sections.extend(votes::sections(&records.runs)?);
    // A study of reward maps shows these first.
    let place = if spec.name == "emergence" { 0 } else { sections.len() };
    if let Some(section) = pictures::section(&records.runs)? {
        sections.insert(place, section);
    }
    let (progress, missing) = progress_of(folder, &cells, &records)?;
    let mut failed: Vec<(String, String)> =
        records.runs.iter().filter_map(|run| Some((run.name.clone(), run.failure.clone()?))).collect();
    failed.extend(records.unreadable.iter().chain(&records.strangers).cloned());
    let page = StudyPage {
        title: spec.title.clone(),
        lead: lead_of(&verdicts.iter().map(|verdict| verdict.outcome).collect::<Vec<_>>()),
        facts: facts::facts_of(folder, spec, &records)?,
        progress,
        missing,
        failed,
        verdicts: verdicts.iter().copied().cloned().collect(),
        sections,
    };
    let verdicts = verdict_table(&verdicts);
    Ok(StudyReport { page, verdicts, findings: found, lacks_manifests: records.lacks_manifests() })
}

fn sections_of(spec: &StudySpec, preset: &PresetFindings, colours: &Colours) -> Vec<StudySection> {
    let Colours { modules, ways } = colours;
    let name = preset.preset.as_str();
    let mut sections = Vec::new();
    let is_choice = spec.settings.images.validation_part == Some(ValidationPart::Choice);
    sections.extend(rates_section::section(name, &preset.learning_rates, modules, is_choice, printed_rate));
    sections.extend(single_task_section::section(name, &preset.modules, modules));
    sections.extend(localization_section::localization(name, &preset.localization, modules));
    sections.extend(order_section::section(name, &preset.scenes, modules));
    let default = initial_values(Preset::from_name(name).unwrap_or_default());
    sections.extend(switch_section::sections(name, &preset.switching, ways, default));
    sections
}

/// The learning rate that the paper prints for a module on a task, if any.
fn printed_rate(module: &str, task: &str) -> Option<f64> {
    let settings = AgentSettings::as_printed(module, &find_task(task).ok()?).ok()?;
    Some(settings.learning_rate)
}

fn lead_of(outcomes: &[VerdictKind]) -> String {
    let count = |outcome: VerdictKind| outcomes.iter().filter(|found| **found == outcome).count();
    match outcomes.len() {
        0 => String::new(),
        n => format!(
            "This study tests {n} {} of the paper. Reproduced: {}. Not reproduced: {}. Not enough data: {}.",
            if n == 1 { "claim" } else { "claims" },
            count(VerdictKind::Reproduced),
            count(VerdictKind::NotReproduced),
            count(VerdictKind::NotEnoughData),
        ),
    }
}

/// Number of runs by state, and the missing ones, grouped over seeds.
fn progress_of(folder: &StudyFolder, cells: &[Cell], records: &Records) -> Result<(RunCounts, Vec<String>)> {
    let complete = folder.complete()?;
    let begun = folder.begun()?;
    let worker = Worker::this(None);
    let mut counts = RunCounts::default();
    let mut missing: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
    for cell in missing_of(cells, &complete) {
        let is_running = begun.contains(&cell.name)
            && folder
                .attempts(&cell.name)
                .records(&worker)
                .is_ok_and(|records| records.iter().any(|record| record.is_alive));
        if is_running {
            counts.n_running += 1;
        } else {
            counts.n_missing += 1;
            let group = cell.name.rsplit_once("--seed-").map_or(cell.name.as_str(), |(group, _)| group);
            missing.entry(group).or_default().push(cell.facts.seed);
        }
    }
    let n_failed = records.runs.iter().filter(|run| run.failure.is_some()).count();
    counts.n_failed = (n_failed + records.unreadable.len() + records.strangers.len()) as u64;
    counts.n_done = (records.runs.len() - n_failed) as u64;
    let words = |(group, seeds): (&str, Vec<u64>)| {
        let seeds: Vec<String> = seeds.iter().map(u64::to_string).collect();
        let noun = if seeds.len() == 1 { "seed" } else { "seeds" };
        format!("{group}: {noun} {}", seeds.join(", "))
    };
    Ok((counts, missing.into_iter().map(words).collect()))
}

/// The study's localization baselines; empty, with a warning, if they cannot be read.
pub fn baselines_or_none(folder: &StudyFolder, watch: &dyn Watch) -> Vec<Baseline> {
    baselines_of(folder).unwrap_or_else(|error| {
        watch.on(Event::Note(&error.text()));
        Vec::new()
    })
}

fn baselines_of(folder: &StudyFolder) -> Result<Vec<Baseline>> {
    #[derive(Deserialize)]
    struct Row {
        name: String,
        mean_iou: f64,
        low: f64,
        high: f64,
        n: usize,
    }
    #[derive(Deserialize)]
    struct Report {
        baselines: Vec<Row>,
    }
    let Some(bytes) = folder.read_own(BASELINES)? else { return Ok(Vec::new()) };
    let report: Report = serde_json::from_slice(&bytes).at(folder.baselines())?;
    let baseline = |row: Row| Baseline {
        name: if row.name.contains("vector") { "svr".into() } else { row.name },
        score: row.mean_iou,
        interval: Some((row.low, row.high)),
        n: row.n,
    };
    Ok(report.baselines.into_iter().map(baseline).collect())
}
