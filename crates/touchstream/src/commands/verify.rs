//! `touchstream verify`: each claim of the paper as a test on what studies found.

use crate::commands::study::read_spec;
use crate::output::write_file;
use crate::say::say;
use crate::study::cell::cells_of;
use crate::study::provenance::starts_of;
use crate::study::records::Records;
use crate::study::report::{baselines_of, words_of};
use crate::study::reproduction::{Evidence, StudyUsed, reproduction_page};
use crate::study::spec::StudySpec;
use anyhow::{Result, bail};
use clap::Args;
use std::collections::BTreeMap;
use std::path::PathBuf;
use touchstream_findings::{Baseline, Outcome, RunRecord, Verdict, findings};
use touchstream_lab::study::StudyFolder;

#[derive(Args)]
pub struct VerifyArgs {
    /// Folders of studies; those on the same images and encoder are judged together
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

/// Studies on the same images and encoder, together.
fn evidence(folders: &[PathBuf]) -> Result<Vec<Evidence>> {
    struct Group {
        studies: Vec<StudyUsed>,
        records: Vec<RunRecord>,
        baselines: Vec<Baseline>,
    }
    let mut groups: BTreeMap<(String, String), Group> = BTreeMap::new();
    for path in folders {
        let folder = StudyFolder::at(path);
        let spec: StudySpec = read_spec(&folder)?;
        let names = cells_of(&spec)?.into_iter().map(|cell| cell.name).collect();
        let records = Records::read(&folder, &names)?;
        if let Some((name, problem)) = records.unreadable.first() {
            bail!("{}: {name}: {problem}", path.display());
        }
        let word = |word: &Option<String>, or: &str| word.clone().unwrap_or_else(|| or.to_owned());
        let key = (word(&spec.settings.data, "gallery"), word(&spec.settings.encoder, "compact"));
        let group = groups.entry(key).or_insert_with(|| Group {
            studies: Vec::new(),
            records: Vec::new(),
            baselines: Vec::new(),
        });
        group.records.extend(records.run_records(&spec));
        group.baselines.extend(baselines_of(&folder)?);
        group.studies.push(StudyUsed::new(&spec, &records, starts_of(&folder)?, names_len(&spec)?));
    }
    let judged = groups.into_iter().map(|((images, encoder), group)| {
        let found = findings(&group.records, &group.baselines);
        let verdicts = found.presets.into_iter().flat_map(|preset| preset.verdicts).collect();
        Evidence { images, encoder, studies: group.studies, verdicts }
    });
    Ok(judged.collect())
}

fn names_len(spec: &StudySpec) -> Result<usize> {
    Ok(cells_of(spec)?.len())
}
