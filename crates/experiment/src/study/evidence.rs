//! Groups studies that can be evaluated together (same images, encoder, settings and touch scale), and computes their
//! verdicts.

use crate::config::Choice;
use crate::config::RawConfig;
use crate::error::{Result, bail};
use crate::run::RunIdentity;
use crate::study::cell::{cells_of, missing_of};
use crate::study::packed::OpenStudy;
use crate::study::provenance::starts_of;
use crate::study::records::Records;
use crate::study::redact::{redact_command, redact_paths};
use crate::study::report::baselines_or_none;
use crate::study::reproduction::StudyUsed;
use crate::study::scale::Scale;
use crate::study::spec::StudySpec;
use crate::study::touches::{CountedTouches, Counting, compared_with, countings_of};
use crate::watch::{Event, Watch};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use touchstream_analysis::{
    Baseline, CLAIMS, Claim, LeftOut, RunKind, RunRecord, Verdict, VerdictKind, findings, name_of,
};

/// Studies that are evaluated together, and the verdicts on them.
pub struct Evidence {
    pub images: String,
    pub encoder: String,
    pub touches: Counting,
    /// Settings of the agents that differ from the defaults.
    pub settings: Vec<String>,
    pub studies: Vec<StudyUsed>,
    pub verdicts: Vec<Verdict>,
    /// Runs, modules and tasks that are excluded from all or some tables.
    pub left_out: Vec<LeftOut>,
    /// Runs that cannot be read or have other settings; they have already been reported as warnings.
    pub unread: Vec<LeftOut>,
}

impl Evidence {
    /// Names of studies of scale `smoke`, whose verdicts mean nothing.
    pub fn smoke_studies(&self) -> Vec<&str> {
        self.studies
            .iter()
            .filter(|study| study.scale == Scale::Smoke)
            .map(|study| study.name.as_str())
            .collect()
    }
}

/// Reads studies, folders or packed, and evaluates each together with those that match it.
pub fn evidence_of(folders: &[PathBuf], watch: &dyn Watch) -> Result<Vec<Evidence>> {
    let studies = folders.iter().map(|path| Study::read(path, watch)).collect::<Result<Vec<_>>>()?;
    let mut alike: BTreeMap<String, Vec<Study>> = BTreeMap::new();
    for study in studies {
        alike.entry(settings_key(&study.spec)?).or_default().push(study);
    }
    let mut groups: BTreeMap<(String, usize, Counting), Group> = BTreeMap::new();
    for (key, studies) in alike {
        let touches: Vec<&CountedTouches> = studies.iter().map(|study| &study.touches).collect();
        let countings = countings_of(&touches);
        let mut seen: Vec<Seen> = Vec::new();
        for (study, counting) in studies.into_iter().zip(countings) {
            let seen_idx = place_among(&mut seen, seen_by(&study));
            match groups.entry((key.clone(), seen_idx, counting)) {
                Entry::Occupied(group) => group.into_mut().add(study, watch)?,
                Entry::Vacant(place) => place.insert(Group::of(&study.spec)?).add(study, watch)?,
            }
        }
    }
    Ok(groups.into_iter().map(|((_, _, counting), group)| group.judged(counting)).collect())
}

/// A study as read from its folder.
struct Study {
    path: PathBuf,
    opened: OpenStudy,
    spec: StudySpec,
    records: Records,
    touches: CountedTouches,
    /// Number of missing runs.
    n_missing: usize,
}

impl Study {
    fn read(path: &Path, watch: &dyn Watch) -> Result<Self> {
        let opened = OpenStudy::at(path)?;
        let folder = &opened.folder;
        let spec = opened.read_spec(path)?;
        let cells = cells_of(&spec)?;
        let names: BTreeSet<String> = cells.iter().map(|cell| cell.name.clone()).collect();
        let records = Records::read(folder, &names)?;
        for (name, problem) in records.unreadable.iter().chain(&records.strangers) {
            watch.on(Event::RunExcluded { study: path, name, problem });
        }
        if records.lacks_manifests() {
            watch.on(Event::WithoutManifest { path });
        }
        let touches = CountedTouches::of(&records.runs);
        let n_missing = missing_of(&cells, &folder.complete()?).len();
        Ok(Self { path: path.to_owned(), opened, spec, records, touches, n_missing })
    }
}

/// The settings that change results: studies that differ in them are evaluated separately. The number of recorded maps
/// and the paths of folders have no effect on results; touch scale and content hashes are read from the runs.
fn settings_key(spec: &StudySpec) -> Result<String> {
    let plain = |words: &RawConfig| RawConfig { touch_scale: None, ..redact_paths(words.clone()) };
    let settings = RawConfig { map_examples: None, ..plain(&spec.settings) };
    let of_tasks: BTreeMap<&String, RawConfig> =
        spec.settings_of.iter().map(|(task, words)| (task, plain(words))).collect();
    Ok(format!("{} {of_tasks:?} {:?}", settings.to_toml()?, spec.rates))
}

/// A property in which runs that are evaluated together must not differ.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Common {
    /// Hashes of a task's images and encoder.
    Images { task: String },
    /// Number of steps of a task, alone or after a switch.
    Steps { preset: &'static str, what: String },
}

/// The values of each property.
type Seen = BTreeMap<Common, BTreeSet<String>>;

fn seen_by(study: &Study) -> Seen {
    let mut seen = Seen::new();
    for run in &study.records.runs {
        let RunIdentity { plan, data_hash, encoder_hash, .. } = &run.identity;
        let images = Common::Images { task: run.facts.task.clone() };
        seen.entry(images).or_default().insert(format!("{data_hash} {encoder_hash}"));
        if run.facts.kind != RunKind::Base {
            let steps = Common::Steps { preset: run.facts.preset.name(), what: compared_with(&run.facts) };
            seen.entry(steps).or_default().insert(plan.n_steps.to_string());
        }
    }
    seen
}

/// The index of the first group that agrees with `new` in all properties that both have; appends a group if there is
/// none. Names are not enough: folders with the same name may contain other images, and studies with the same name may
/// have longer runs.
fn place_among(all: &mut Vec<Seen>, new: Seen) -> usize {
    let fits =
        |there: &Seen| new.iter().all(|(what, seen)| there.get(what).is_none_or(|there| there == seen));
    let idx = all.iter().position(fits).unwrap_or(all.len());
    match all.get_mut(idx) {
        Some(there) => there.extend(new),
        None => all.push(new),
    }
    idx
}

/// Studies that are evaluated together.
struct Group {
    images: String,
    encoder: String,
    settings: Vec<String>,
    studies: Vec<StudyUsed>,
    records: Vec<RunRecord>,
    /// The folder of each run, and its index among the records.
    seen: BTreeMap<String, (PathBuf, usize)>,
    baselines: Vec<Baseline>,
    unread: Vec<LeftOut>,
}

impl Group {
    fn of(spec: &StudySpec) -> Result<Self> {
        let word = |word: &Option<String>, or: &str| word.clone().unwrap_or_else(|| or.to_owned());
        let steps = spec.steps.map(|steps| format!("steps = {steps}"));
        Ok(Self {
            images: word(&spec.settings.data, "gallery"),
            encoder: word(&spec.settings.encoder, "compact"),
            settings: spec.said_about_agents()?.into_iter().chain(steps).collect(),
            studies: Vec::new(),
            records: Vec::new(),
            seen: BTreeMap::new(),
            baselines: Vec::new(),
            unread: Vec::new(),
        })
    }

    fn add(&mut self, study: Study, watch: &dyn Watch) -> Result<()> {
        let Study { path, opened, spec, records, touches, n_missing } = study;
        self.add_records(&path, records.run_records(&spec))?;
        self.baselines.extend(baselines_or_none(&opened.folder, watch));
        // Machine-specific paths are removed.
        let unread = records.unreadable.iter().chain(&records.strangers);
        self.unread
            .extend(unread.map(|(name, why)| LeftOut { what: name.clone(), why: redact_command(why) }));
        self.studies.push(StudyUsed::new(&spec, &records, &touches, starts_of(&opened.folder)?, n_missing));
        Ok(())
    }

    /// Adds each run once. If studies share a run, its results must be equal.
    fn add_records(&mut self, path: &Path, records: Vec<RunRecord>) -> Result<()> {
        for record in records {
            let what = format!("{}, preset {}", name_of(&record), record.preset);
            match self.seen.get(&what) {
                None => {
                    self.seen.insert(what, (path.to_owned(), self.records.len()));
                    self.records.push(record);
                }
                Some((_, idx)) if self.records[*idx].has_same_results(&record) => {}
                Some((other, _)) => bail!(
                    Folder,
                    "{} and {} both have {what}, with other results; judge them one after the other",
                    other.display(),
                    path.display()
                ),
            }
        }
        Ok(())
    }

    fn judged(self, touches: Counting) -> Evidence {
        let found = findings(&self.records, &self.baselines);
        let mut left_out = Vec::new();
        for preset in &found.presets {
            left_out.extend(preset.all_left_out().into_iter().map(|LeftOut { what, why }| LeftOut {
                what: format!("{what}, preset {}", preset.preset),
                why,
            }));
        }
        let mut verdicts = Vec::new();
        for preset in ["default", "paper"] {
            match found.presets.iter().find(|found| found.preset == preset) {
                Some(found) => verdicts.extend(found.verdicts.iter().cloned()),
                None => verdicts.extend(CLAIMS.iter().map(|claim| not_run(claim, preset))),
            }
        }
        let Self { images, encoder, settings, studies, unread, .. } = self;
        Evidence { images, encoder, touches, settings, studies, verdicts, left_out, unread }
    }
}

fn not_run(claim: &Claim, preset: &str) -> Verdict {
    Verdict {
        claim_id: claim.id.into(),
        claim: claim.claim.into(),
        preset: preset.into(),
        paper: claim.paper.into(),
        found: "nothing".into(),
        n: "0 runs".into(),
        has_runs: false,
        outcome: VerdictKind::NotEnoughData,
        why: "nothing was run under this preset".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_images_or_lengths_are_judged_separately() {
        fn check(all: &mut Vec<Seen>, what: Common, has: &str, place: usize) {
            let new = Seen::from([(what, BTreeSet::from([has.to_owned()]))]);
            assert_eq!(place_among(all, new.clone()), place, "{new:?}");
        }
        let images = |task: &str| Common::Images { task: task.to_owned() };
        let steps = |preset| Common::Steps { preset, what: "localization".to_owned() };
        let mut all = Vec::new();
        check(&mut all, images("sr-2way"), "a", 0);
        check(&mut all, images("sr-2way"), "b", 1);
        check(&mut all, images("sr-2way"), "a", 0);
        // The first value of a property is always accepted; later values must be equal to it.
        check(&mut all, images("localization"), "c", 0);
        check(&mut all, images("localization"), "d", 1);
        check(&mut all, steps("default"), "24000", 0);
        check(&mut all, steps("paper"), "8000", 0);
        check(&mut all, steps("default"), "100000", 1);
    }
}
