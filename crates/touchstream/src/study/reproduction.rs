//! Which claims of the paper hold: a page of Markdown, made from studies alone.

use crate::study::evidence::Evidence;
use crate::study::provenance::Start;
use crate::study::records::Records;
use crate::study::report::words_of;
use crate::study::shown::{shown_command, shown_source};
use crate::study::spec::StudySpec;
use crate::study::touches::{CountedTouches, Counting};
use std::collections::BTreeSet;
use touchstream_findings::{Outcome, Verdict};

/// A study that verdicts rest on.
pub struct StudyUsed {
    name: String,
    scale: String,
    n_complete: usize,
    n_failed: usize,
    n_runs: usize,
    seeds: Vec<u64>,
    starts: Vec<Start>,
    data_hashes: BTreeSet<String>,
    encoder_hashes: BTreeSet<String>,
    /// How touches were counted, as runs tell.
    touches: String,
    /// Whether the study says itself how.
    says_touch_scale: bool,
}

impl StudyUsed {
    pub fn new(
        spec: &StudySpec,
        records: &Records,
        touches: &CountedTouches,
        starts: Vec<Start>,
        n_missing: usize,
    ) -> Self {
        let hashes = |of: fn(&touchstream_lab::run::RunIdentity) -> &String| {
            records.runs.iter().map(|run| of(&run.identity).clone()).collect()
        };
        let n_failed = records.runs.iter().filter(|run| run.failure.is_some()).count();
        Self {
            name: spec.name.clone(),
            scale: format!("{:?}", spec.scale).to_lowercase(),
            n_complete: records.runs.len() - n_failed,
            n_failed,
            n_runs: records.n_found() + n_missing,
            seeds: spec.seeds.clone(),
            starts,
            data_hashes: hashes(|identity| &identity.data_hash),
            encoder_hashes: hashes(|identity| &identity.encoder_hash),
            touches: touches.text(),
            says_touch_scale: spec.settings.touch_scale.is_some(),
        }
    }
}

/// The page.
pub fn reproduction_page(all: &[Evidence]) -> String {
    let mut text = String::from(HEAD);
    for evidence in all {
        let Evidence { images, encoder, touches, settings, studies, verdicts } = evidence;
        let mut otherwise = match touches {
            Counting::Default => String::new(),
            touches => format!(", touches {}", touches.word()),
        };
        settings.iter().for_each(|setting| otherwise += &format!(", `{setting}`"));
        text += &format!("\n## {} with {}{otherwise}\n\n", shown_source(images), shown_source(encoder));
        let count = |outcome| verdicts.iter().filter(|verdict| verdict.outcome == outcome).count();
        text += &format!(
            "{} reproduced, {} not reproduced, {} without enough data.\n\n",
            count(Outcome::Reproduced),
            count(Outcome::NotReproduced),
            count(Outcome::NotEnoughData)
        );
        text += "| study | scale | runs | seeds | touches | images | encoder | commit |\n|---|---|---|---|---|---|---|---|\n";
        for study in studies {
            text += &study.row();
        }
        text += "\n";
        for study in studies {
            let commands = study.starts.iter().map(|start| shown_command(&start.command));
            let mut told: Vec<String> = Vec::new();
            for command in commands {
                if !told.contains(&command) {
                    text += &format!("    {command}\n");
                    told.push(command);
                }
            }
        }
        // Studies of before touches were counted on a scale do not name it.
        if let Counting::Everywhere(edge) = touches
            && studies.iter().any(|study| !study.says_touch_scale)
        {
            text += &format!(
                "\nTo run it again as it was, add `--touch-scale {edge}` where a command does not say it.\n"
            );
        }
        text += "\n| claim | preset | verdict | paper | found | n | why |\n|---|---|---|---|---|---|---|\n";
        let rank = |outcome| match outcome {
            Outcome::Reproduced => 0,
            Outcome::NotReproduced => 1,
            Outcome::NotEnoughData => 2,
        };
        let mut sorted: Vec<&Verdict> = verdicts.iter().collect();
        sorted.sort_by_key(|verdict| (rank(verdict.outcome) == 2, verdict.preset.clone()));
        let is_run = |verdict: &&&Verdict| verdict.n != "0 runs";
        let n_not_run = sorted.iter().filter(|verdict| !is_run(verdict)).count();
        for verdict in sorted.iter().filter(is_run) {
            let cells = [
                verdict.claim.as_str(),
                &verdict.preset,
                &format!("**{}**", words_of(verdict.outcome)),
                &verdict.paper,
                &verdict.found,
                &verdict.n,
                &verdict.why,
            ];
            let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
            text += &format!("| {} |\n", cells.join(" | "));
        }
        if n_not_run > 0 {
            let not_run: Vec<String> = sorted
                .iter()
                .filter(|verdict| !is_run(verdict))
                .map(|verdict| format!("{} (`{}`)", verdict.claim_id, verdict.preset))
                .collect();
            text += &format!("\nNothing was run for {n_not_run} claims: {}.\n", not_run.join(", "));
        }
    }
    text
}

const HEAD: &str = "# Reproduction\n\n\
    Which claims of the paper hold here, and which do not. Written by `touchstream verify DIR... --markdown FILE` from the run folders of \
    the studies that are named below, and from nothing else. *Reproduced* and *not reproduced* are what was measured, under our default \
    settings and under those that the paper prints (preset `paper`); *not enough data* says which runs are missing. Intervals are 95 %. A scale of `short` is short: localization in particular is \
    not learned to its end by then ([fine-touches.md](fine-touches.md) has longer runs). *Touches* is what a coordinate counts at the screen's edge, as the runs themselves tell; \
    it changes much ([results.md](results.md#how-touches-are-counted)), so studies that count otherwise are judged apart.\n";

impl StudyUsed {
    fn row(&self) -> String {
        let short = |hashes: &BTreeSet<String>| {
            hashes
                .iter()
                .map(|hash| format!("`{}`", &hash[..hash.len().min(12)]))
                .collect::<Vec<_>>()
                .join(", ")
        };
        let seeds: Vec<String> = self.seeds.iter().map(u64::to_string).collect();
        let commits: BTreeSet<&str> = self.starts.iter().map(|start| start.commit.as_str()).collect();
        let failed = if self.n_failed > 0 { format!(", {} failed", self.n_failed) } else { String::new() };
        format!(
            "| {} | {} | {} of {}{failed} | {} | {} | {} | {} | {} |\n",
            self.name,
            self.scale,
            self.n_complete,
            self.n_runs,
            seeds.join(", "),
            self.touches,
            short(&self.data_hashes),
            short(&self.encoder_hashes),
            commits.into_iter().collect::<Vec<_>>().join(", ")
        )
    }
}
