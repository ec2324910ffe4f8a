//! `touchstream verify`: tests each claim of the paper on the results of studies.

use crate::stdio::{print_json, print_line, warn_user};
use crate::terminal::Terminal;
use anyhow::{Result, bail};
use clap::Args;
use std::path::PathBuf;
use touchstream_analysis::{LeftOut, Verdict, VerdictKind};
use touchstream_experiment::output::OutputFile;
use touchstream_experiment::study::{Evidence, MadeFrom, evidence_of, reproduction_page, smoke_words};

#[derive(Args)]
pub struct VerifyArgs {
    /// Folders of studies, or packed studies; those with the same images, encoder, settings and touch scale are combined
    #[arg(value_name = "DIR", required = true)]
    folders: Vec<PathBuf>,
    /// Print as JSON
    #[arg(long)]
    json: bool,
    /// Leave out claims with not enough data
    #[arg(long)]
    judged: bool,
    /// Also write a Markdown page: claims, values, commits, hashes and commands
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// Exit with an error if a claim is not reproduced
    #[arg(long)]
    strict: bool,
}

pub fn run(args: &VerifyArgs) -> Result<()> {
    let page = args.markdown.as_deref().map(OutputFile::create).transpose()?;
    let all = evidence_of(&args.folders, &Terminal::default())?;
    all.iter().for_each(warn_of);
    if let Some(page) = page {
        page.finish_with(reproduction_page(&all, MadeFrom::of(&args.folders)).as_bytes())?;
    }
    let shown = |verdict: &&Verdict| !args.judged || verdict.outcome != VerdictKind::NotEnoughData;
    if args.json {
        let verdicts: Vec<serde_json::Value> = all
            .iter()
            .flat_map(|evidence| {
                evidence.verdicts.iter().filter(shown).map(|verdict| {
                    let mut value = serde_json::to_value(verdict).unwrap_or_default();
                    value["images"] = evidence.images.clone().into();
                    value["encoder"] = evidence.encoder.clone().into();
                    value["touches"] = evidence.touches.word().into();
                    value["settings"] = evidence.settings.clone().into();
                    value
                })
            })
            .collect();
        print_json(&verdicts)?;
    } else {
        for evidence in all.iter().filter(|evidence| evidence.verdicts.iter().any(|verdict| shown(&verdict)))
        {
            let Evidence { images, encoder, touches, settings, .. } = evidence;
            let parts = [format!("{images} with {encoder}"), format!("touches {}", touches.word())];
            print_line!(
                "{}",
                parts.iter().chain(settings).map(String::as_str).collect::<Vec<_>>().join(", ")
            );
            for verdict in evidence.verdicts.iter().filter(shown) {
                let Verdict { preset, claim, paper, found, n, outcome, why, .. } = verdict;
                print_line!("{:16} {claim} (preset {preset})", outcome.label());
                print_line!("{:16} paper: {paper}; found: {found}; {n}", "");
                if !why.is_empty() {
                    print_line!("{:16} {why}", "");
                }
            }
            print_line!("");
        }
    }
    let n_not = all
        .iter()
        .flat_map(|evidence| &evidence.verdicts)
        .filter(|verdict| verdict.outcome == VerdictKind::NotReproduced)
        .count();
    if args.strict && n_not > 0 {
        bail!("{n_not} claims are not reproduced");
    }
    Ok(())
}

fn warn_of(evidence: &Evidence) {
    let smoke = evidence.smoke_studies();
    if !smoke.is_empty() {
        warn_user!("warning: {}", smoke_words(&smoke));
    }
    for LeftOut { what, why } in &evidence.left_out {
        warn_user!("ignored: {what}: {why}");
    }
}
