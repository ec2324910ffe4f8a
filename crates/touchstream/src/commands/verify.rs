//! `touchstream verify`: each claim of the paper as a test on what studies found.

use crate::commands::study::read_spec;
use crate::output::write_file;
use crate::say::{say, warn_user};
use crate::study::cell::cells_of;
use crate::study::provenance::starts_of;
use crate::study::records::Records;
use crate::study::report::{baselines_or_none, words_of};
use crate::study::reproduction::{Evidence, StudyUsed, reproduction_page};
use crate::study::spec::StudySpec;
use anyhow::{Result, bail};
use clap::Args;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use touchstream_findings::{Baseline, CLAIMS, Claim, Outcome, Part, RunRecord, Verdict, findings};
use touchstream_lab::study::StudyFolder;

#[derive(Args)]
pub struct VerifyArgs {
    /// Folders of studies; those on the same images, encoder and settings are judged together
    #[arg(value_name = "DIR", required = true)]
    folders: Vec<PathBuf>,
    /// Print as JSON
    #[arg(long)]
    json: bool,
    /// Only claims that can be judged
    #[arg(long)]
    judged: bool,
    /// Also write a page for people (Markdown): claims, figures, commits, hashes and commands
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// End with an error if a claim is not reproduced
    #[arg(long)]
    strict: bool,
}

pub fn run(args: &VerifyArgs) -> Result<()> {
    let all = evidence(&args.folders)?;
    if let Some(file) = &args.markdown {
        write_file(file, reproduction_page(&all).as_bytes())?;
    }
    let shown = |verdict: &&Verdict| !args.judged || verdict.outcome != Outcome::NotEnoughData;
    if args.json {
        let verdicts: Vec<serde_json::Value> = all
            .iter()
            .flat_map(|evidence| {
                evidence.verdicts.iter().filter(shown).map(|verdict| {
                    let mut value = serde_json::to_value(verdict).unwrap_or_default();
                    value["images"] = evidence.images.clone().into();
                    value["encoder"] = evidence.encoder.clone().into();
                    value
                })
            })
            .collect();
        say!("{}", serde_json::to_string_pretty(&verdicts)?);
    } else {
        for evidence in &all {
            say!("{} with {}", evidence.images, evidence.encoder);
            for verdict in evidence.verdicts.iter().filter(shown) {
                let Verdict { preset, claim, paper, found, n, outcome, why, .. } = verdict;
                say!("{:16} {claim} (preset {preset})", words_of(*outcome));
                say!("{:16} paper: {paper}; found: {found}; {n}", "");
                if !why.is_empty() {
                    say!("{:16} {why}", "");
                }
            }
            say!("");
        }
    }
    let n_not = all
        .iter()
        .flat_map(|evidence| &evidence.verdicts)
        .filter(|verdict| verdict.outcome == Outcome::NotReproduced)
        .count();
    if args.strict && n_not > 0 {
        bail!("{n_not} claims are not reproduced");
    }
    Ok(())
}

/// Studies on the same images, encoder and settings, together.
fn evidence(folders: &[PathBuf]) -> Result<Vec<Evidence>> {
    let mut groups: BTreeMap<String, Group> = BTreeMap::new();
    for path in folders {
        let folder = StudyFolder::at(path);
        let spec: StudySpec = read_spec(&folder)?;
        let names: BTreeSet<String> = cells_of(&spec)?.into_iter().map(|cell| cell.name).collect();
        let records = Records::read(&folder, &names)?;
        for (name, problem) in records.unreadable.iter().chain(&records.strangers) {
            warn_user!("{}: {name} counts nowhere: {problem}", path.display());
        }
        let group = groups.entry(settings_key(&spec)?).or_insert_with(|| Group::of(&spec));
        group.add(path, records.run_records(&spec))?;
        group.baselines.extend(baselines_or_none(&folder));
        group.studies.push(StudyUsed::new(&spec, &records, starts_of(&folder)?, names.len()));
    }
    Ok(groups.into_values().map(Group::judged).collect())
}

/// Whatever changes numbers: runs that differ in it are not judged together. How many maps are kept changes none.
fn settings_key(spec: &StudySpec) -> Result<String> {
    let mut settings = spec.settings.clone();
    settings.map_examples = None;
    let of_tasks: BTreeMap<_, _> = spec.settings_of.iter().collect();
    Ok(format!("{} {of_tasks:?} {:?}", settings.to_toml()?, spec.rates))
}

/// Studies that are judged together.
struct Group {
    images: String,
    encoder: String,
    studies: Vec<StudyUsed>,
    records: Vec<RunRecord>,
    /// Which folder has which run.
    seen: BTreeMap<String, PathBuf>,
    baselines: Vec<Baseline>,
}

impl Group {
    fn of(spec: &StudySpec) -> Self {
        let word = |word: &Option<String>, or: &str| word.clone().unwrap_or_else(|| or.to_owned());
        Self {
            images: word(&spec.settings.data, "gallery"),
            encoder: word(&spec.settings.encoder, "compact"),
            studies: Vec::new(),
            records: Vec::new(),
            seen: BTreeMap::new(),
            baselines: Vec::new(),
        }
    }

    /// No run counts twice.
    fn add(&mut self, path: &Path, records: Vec<RunRecord>) -> Result<()> {
        for record in records {
            let RunRecord { preset, module, task, seed, part, .. } = &record;
            let what = match part {
                Part::Alone { learning_rate } => format!("{module} on {task}, {learning_rate:?}"),
                Part::Second { switch, way, .. } => format!("{module} at {switch}, {way}"),
            };
            let what = format!("{what}, seed {seed}, preset {preset}");
            if let Some(other) = self.seen.insert(what.clone(), path.to_owned()) {
                bail!(
                    "{} and {} both have {what}; judge them one after the other",
                    other.display(),
                    path.display()
                );
            }
            self.records.push(record);
        }
        Ok(())
    }

    /// All claims under both presets: what was not run says so.
    fn judged(self) -> Evidence {
        let found = findings(&self.records, &self.baselines);
        let mut verdicts = Vec::new();
        for preset in ["default", "paper"] {
            match found.presets.iter().find(|found| found.preset == preset) {
                Some(found) => verdicts.extend(found.verdicts.iter().cloned()),
                None => verdicts.extend(CLAIMS.iter().map(|claim| not_run(claim, preset))),
            }
        }
        let Self { images, encoder, studies, .. } = self;
        Evidence { images, encoder, studies, verdicts }
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
        outcome: Outcome::NotEnoughData,
        why: "nothing was run under this preset".into(),
    }
}
