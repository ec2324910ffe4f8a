//! Reads the complete runs of a study with their curves.

use crate::config::Choice;
use crate::curve::{CurveRow, rows_from_csv};
use crate::error::{Context, Error, Result, bail};
use crate::run::{RunFolder, RunIdentity, Stage, VerifiedRun};
use crate::study::StudyFolder;
use crate::study::cell::RunFacts;
use crate::study::spec::StudySpec;
use crate::study::touches::{compared_with, scale_of};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use touchstream_agents::find_module;
use touchstream_analysis::{Point, RunKind, RunRecord};

/// A complete run.
pub struct CompleteRun {
    pub name: String,
    pub facts: RunFacts,
    pub rows: Vec<CurveRow>,
    /// Why the run ended early, if it did.
    pub failure: Option<String>,
    pub identity: RunIdentity,
    pub files: VerifiedRun,
}

/// All complete runs of a study, and those that could not be read.
pub struct Records {
    pub runs: Vec<CompleteRun>,
    /// Folder name and problem of each unreadable run.
    pub unreadable: Vec<(String, String)>,
    /// Unreadable runs that may be intact, because the system refused access.
    pub out_of_reach: BTreeSet<String>,
    /// Name of each excluded run, and how it differs from the other seeds.
    pub strangers: Vec<(String, String)>,
}

impl Records {
    /// Reads the runs in the folder that belong to the study, and the bases that they started from, which may have
    /// names of older versions. Other runs in the folder are ignored.
    pub fn read(folder: &StudyFolder, names: &BTreeSet<String>) -> Result<Self> {
        let complete = folder.complete()?;
        let (mut runs, failures) = read_runs(folder, complete.intersection(names));
        let out_of_reach = failures.iter().filter(|(_, error)| error.is_out_of_reach());
        let out_of_reach = out_of_reach.map(|(name, _)| name.clone()).collect();
        let bases: BTreeSet<String> = runs.iter().filter_map(|run| run.base().map(String::from)).collect();
        let (bases, strangers) =
            read_runs(folder, complete.intersection(&bases).filter(|base| !names.contains(*base)));
        runs.extend(bases);
        let [unreadable, strangers] = [failures, strangers].map(with_texts);
        Ok(Self { runs, unreadable, out_of_reach, strangers }.without_strangers().without_unlike_touches())
    }

    /// Whether a run is of an older program, which wrote no manifests.
    pub fn lacks_manifests(&self) -> bool {
        self.runs.iter().any(|run| run.files.manifest().is_none())
    }

    /// Number of runs in the folder, readable or not.
    pub fn n_found(&self) -> usize {
        self.runs.len() + self.unreadable.len() + self.strangers.len()
    }

    /// All seeds of a method must have the same arithmetic, images, features and plan. Runs that differ from the first
    /// seed are excluded and listed.
    fn without_strangers(mut self) -> Self {
        let mut first_of: BTreeMap<String, (String, RunIdentity)> = BTreeMap::new();
        let mut kept = Vec::with_capacity(self.runs.len());
        for run in self.runs {
            let group = run.name.rsplit_once("--seed-").map_or(run.name.as_str(), |(group, _)| group);
            let mut identity = run.identity.clone();
            // Seeds of a method differ in these by definition: each seed has its own base.
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

    /// Modules are compared on a task only at the same touch scale: for each preset and task, the most frequent scale
    /// is kept. A folder that an older program began may contain two scales.
    fn without_unlike_touches(mut self) -> Self {
        let key = |run: &CompleteRun| (run.facts.preset.name(), compared_with(&run.facts));
        let is_compared = |run: &CompleteRun| run.facts.kind != RunKind::Base;
        let mut counts: BTreeMap<_, BTreeMap<String, usize>> = BTreeMap::new();
        for run in self.runs.iter().filter(|run| is_compared(run)) {
            *counts.entry(key(run)).or_default().entry(scale_of(run).0.to_string()).or_default() += 1;
        }
        let mut kept = Vec::with_capacity(self.runs.len());
        for run in self.runs {
            let edge = scale_of(&run).0.to_string();
            let most = counts.get(&key(&run)).and_then(|counts| counts.iter().max_by_key(|(_, n)| **n));
            match most {
                Some((most, _)) if is_compared(&run) && *most != edge => {
                    let reason = format!(
                        "its touches count {edge} at the screen's edge, those of other runs of {} {most}; remove one kind",
                        compared_with(&run.facts)
                    );
                    self.strangers.push((run.name, reason));
                }
                _ => kept.push(run),
            }
        }
        self.runs = kept;
        self
    }

    /// The runs as input of the analysis. Failed runs are included with their reason: they count as missing, and
    /// against their learning rates.
    pub fn run_records(&self, spec: &StudySpec) -> Vec<RunRecord> {
        let learned = self.runs.iter().filter(|run| run.failure.is_none());
        let curves: BTreeMap<&str, &[CurveRow]> =
            learned.map(|run| (run.name.as_str(), run.rows.as_slice())).collect();
        let compared = self.runs.iter().filter(|run| run.facts.kind != RunKind::Base);
        compared.map(|run| run.record(spec, &curves)).collect()
    }
}

/// The runs that can be read, and the problems of the others.
fn read_runs<'a>(
    folder: &StudyFolder,
    names: impl Iterator<Item = &'a String>,
) -> (Vec<CompleteRun>, Vec<(String, Error)>) {
    let names: Vec<&String> = names.collect();
    let read: Vec<_> = names.par_iter().map(|name| (*name, read_run(folder.run(name), name))).collect();
    let (mut runs, mut unreadable) = (Vec::new(), Vec::new());
    for (name, one) in read {
        match one {
            Ok(run) => runs.push(run),
            Err(error) => unreadable.push((name.clone(), error)),
        }
    }
    (runs, unreadable)
}

fn with_texts(failures: Vec<(String, Error)>) -> Vec<(String, String)> {
    failures.into_iter().map(|(name, error)| (name, error.text())).collect()
}

fn read_run(folder: RunFolder, name: &str) -> Result<CompleteRun> {
    let files = VerifiedRun::open(folder.clone())?;
    let path = folder.facts();
    let facts: RunFacts = files.read_json(&path)?.at(&path)?;
    find_module(&facts.module).with_context(|| format!("{}: module", path.display()))?;
    let status = files.read_status()?.at(folder.status())?;
    let identity = files.read_identity()?.at(folder.identity())?;
    if identity.plan.lessons.is_empty() {
        bail!(Folder, "{}: plan.lessons: there is none", folder.identity().display());
    }
    let curve = folder.curve_csv();
    let rows = rows_from_csv(&files.read_text(&curve)?.at(&curve)?).at(&curve)?;
    // What a report reads later must not stop it then.
    for path in [folder.votes_csv(), folder.maps_png()] {
        files.read(&path)?;
    }
    let failure = (status.stage != Stage::Finished)
        .then(|| status.reason.unwrap_or_else(|| "no reason is known".into()));
    Ok(CompleteRun { name: name.to_owned(), facts, rows, failure, identity, files })
}

impl CompleteRun {
    /// The run's method in tables: its module, and the settings that vary.
    pub fn method(&self) -> String {
        match self.facts.varied.as_str() {
            "" => self.facts.module.clone(),
            varied => format!("{} ({varied})", self.facts.module),
        }
    }

    /// The name of the base that the run started from.
    fn base(&self) -> Option<&str> {
        match &self.facts.kind {
            RunKind::Second { base, .. } => Some(base),
            RunKind::SingleTask | RunKind::Base => None,
        }
    }

    fn record(&self, spec: &StudySpec, curves: &BTreeMap<&str, &[CurveRow]>) -> RunRecord {
        let RunFacts { preset, module, varied, task, seed, kind } = &self.facts;
        // If only the learning rate varies, it is an axis of the table and not part of the method.
        let is_rate = spec.vary.len() == 1 && varied.starts_with("learning-rate=");
        let base = self.base();
        let learning_rate = (is_rate && base.is_none()).then(|| self.identity.plan.agent().learning_rate);
        let base_rows = base.and_then(|base| curves.get(base).copied()).unwrap_or_default();
        let point = |row: &CurveRow| Point {
            step: row.step,
            reward: row.validation.reward,
            train_reward: row.train_reward,
            on_object: row.validation.on_object,
            reuse: row.reuse,
        };
        RunRecord {
            preset: preset.name().into(),
            module: if is_rate { module.clone() } else { self.method() },
            task: task.clone(),
            seed: *seed,
            kind: kind.clone(),
            learning_rate,
            base_curve: base_rows.iter().map(|row| (row.step, row.validation.reward)).collect(),
            points: self.rows.iter().map(point).collect(),
            failure: self.failure.clone(),
        }
    }
}
