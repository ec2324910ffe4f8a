//! What a study's folders tell: every complete run with its curve.

use crate::study::cell::{RunFacts, RunPart};
use crate::study::local::RUN_FACTS;
use crate::study::spec::StudySpec;
use crate::train_words::PresetWord;
use anyhow::{Context, Result};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use touchstream_findings::{Part, Point, RunRecord, end};
use touchstream_lab::curve::{CurveRow, rows_from_csv};
use touchstream_lab::run::{RunFolder, RunIdentity, Stage};
use touchstream_lab::study::StudyFolder;

/// A complete run.
pub struct CompleteRun {
    pub name: String,
    pub facts: RunFacts,
    pub rows: Vec<CurveRow>,
    /// Why there is no more of it.
    pub failure: Option<String>,
    pub identity: RunIdentity,
    pub folder: RunFolder,
}

/// All complete runs of a study, by name, and what could not be read.
pub struct Records {
    pub runs: Vec<CompleteRun>,
    /// The folder's name, and what is wrong with it.
    pub unreadable: Vec<(String, String)>,
    /// Runs that were made otherwise than other seeds of theirs.
    pub strangers: Vec<(String, String)>,
}

impl Records {
    /// Reads the runs of a study that are in its folder; of others that lie there, nothing.
    pub fn read(folder: &StudyFolder, names: &BTreeSet<String>) -> Result<Self> {
        let complete: Vec<String> =
            folder.complete()?.into_iter().filter(|name| names.contains(name)).collect();
        let read = |name: &String| read_run(folder.run(name), name).map_err(|error| (name.clone(), error));
        let read: Vec<_> = complete.par_iter().map(read).collect();
        let (mut runs, mut unreadable) = (Vec::new(), Vec::new());
        for one in read {
            match one {
                Ok(run) => runs.push(run),
                Err((name, error)) => unreadable.push((name, format!("{error:#}"))),
            }
        }
        Ok(Self { runs, unreadable, strangers: Vec::new() }.without_strangers())
    }

    /// Seeds of one method must have been made alike: with the same program's arithmetic, images, features and plan. Those that
    /// differ from the first are told, not averaged.
    fn without_strangers(mut self) -> Self {
        let mut first_of: BTreeMap<String, (String, RunIdentity)> = BTreeMap::new();
        let mut kept = Vec::with_capacity(self.runs.len());
        for run in self.runs {
            let group = run.name.rsplit_once("--seed-").map_or(run.name.as_str(), |(group, _)| group);
            let mut identity = run.identity.clone();
            // A base of another seed is another base.
            (identity.plan.seed, identity.origin) = (0, None);
            let (first, known) =
                first_of.entry(group.to_owned()).or_insert_with(|| (run.name.clone(), identity.clone()));
            if *known == identity {
                kept.push(run);
            } else {
                let reason = format!("it was made with other settings than {first}; remove one of them");
                self.strangers.push((run.name, reason));
            }
        }
        self.runs = kept;
        self
    }

    /// As they are summed up and judged. Runs that failed count as missing.
    pub fn run_records(&self, spec: &StudySpec) -> Vec<RunRecord> {
        let learned = || self.runs.iter().filter(|run| run.failure.is_none());
        let ends: BTreeMap<&str, f64> =
            learned().filter_map(|run| Some((run.name.as_str(), end_of(&run.rows)?))).collect();
        learned().filter(|run| run.facts.part != RunPart::Base).map(|run| run.record(spec, &ends)).collect()
    }
}

/// What a curve ends with; none if there is no curve.
fn end_of(rows: &[CurveRow]) -> Option<f64> {
    let points: Vec<(u64, f64)> = rows.iter().map(|row| (row.step, row.validation.reward)).collect();
    (!points.is_empty()).then(|| end(&points))
}

fn read_run(folder: RunFolder, name: &str) -> Result<CompleteRun> {
    let path = folder.path().join(RUN_FACTS);
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let facts: RunFacts = serde_json::from_str(&text).with_context(|| path.display().to_string())?;
    let status = folder.read_status()?.with_context(|| folder.status().display().to_string())?;
    let identity = folder.read_identity()?.with_context(|| folder.identity().display().to_string())?;
    let curve = folder.curve_csv();
    let text = fs::read_to_string(&curve).with_context(|| curve.display().to_string())?;
    let rows = rows_from_csv(&text).with_context(|| curve.display().to_string())?;
    let failure = (status.stage != Stage::Finished)
        .then(|| status.reason.unwrap_or_else(|| "no reason is known".into()));
    Ok(CompleteRun { name: name.to_owned(), facts, rows, failure, identity, folder })
}

impl CompleteRun {
    /// What the run is called in tables: its module, and what is varied about it.
    pub fn method(&self) -> String {
        match self.facts.varied.as_str() {
            "" => self.facts.module.clone(),
            varied => format!("{} ({varied})", self.facts.module),
        }
    }

    fn record(&self, spec: &StudySpec, ends: &BTreeMap<&str, f64>) -> RunRecord {
        let RunFacts { preset, module, varied, task, seed, part } = &self.facts;
        // Where rates are what is studied, they are an axis of the table, not other modules.
        let is_rate = spec.vary.len() == 1 && varied.starts_with("learning-rate=");
        let learning_rate = is_rate.then(|| self.identity.plan.agent().learning_rate);
        let part = match part {
            RunPart::Alone | RunPart::Base => Part::Alone { learning_rate },
            RunPart::Second { switch, base_task, base, way } => Part::Second {
                switch: switch.clone(),
                base_task: base_task.clone(),
                way: way.clone(),
                base_end: ends.get(base.as_str()).copied(),
            },
        };
        let point = |row: &CurveRow| Point {
            step: row.step,
            reward: row.validation.reward,
            train_reward: row.train_reward,
            on_object: row.validation.on_object,
            reuse: row.reuse,
        };
        RunRecord {
            preset: match preset {
                PresetWord::Default => "default".into(),
                PresetWord::Paper => "paper".into(),
            },
            module: if is_rate { module.clone() } else { self.method() },
            task: task.clone(),
            seed: *seed,
            part,
            points: self.rows.iter().map(point).collect(),
        }
    }
}
