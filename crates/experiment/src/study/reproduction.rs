//! The Markdown page of verdicts on the paper's claims.

use crate::config::Choice;
use crate::study::at_a_glance::{Judged, at_a_glance, judged_columns};
use crate::study::evidence::Evidence;
use crate::study::provenance::Start;
use crate::study::records::Records;
use crate::study::redact::{redact_command, redact_source};
use crate::study::scale::Scale;
use crate::study::spec::StudySpec;
use crate::study::touches::{CountedTouches, Counting};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use touchstream_analysis::{LeftOut, Verdict, VerdictKind};

/// A study that verdicts are based on.
pub struct StudyUsed {
    pub name: String,
    pub scale: Scale,
    pub presets: Vec<&'static str>,
    n_complete: usize,
    n_failed: usize,
    n_runs: usize,
    pub seeds: Vec<u64>,
    starts: Vec<Start>,
    data_hashes: BTreeSet<String>,
    encoder_hashes: BTreeSet<String>,
    /// The touch scale, as recorded in the runs.
    touches: String,
    /// Whether the touch scale is given in `study.toml`.
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
        let hashes = |of: fn(&crate::run::RunIdentity) -> &String| {
            records.runs.iter().map(|run| of(&run.identity).clone()).collect()
        };
        let n_failed = records.runs.iter().filter(|run| run.failure.is_some()).count();
        Self {
            name: spec.name.clone(),
            scale: spec.scale,
            presets: spec.presets.iter().map(|preset| preset.name()).collect(),
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

/// The source of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MadeFrom {
    Results,
    Studies,
}

impl MadeFrom {
    /// Packed files in a folder named `results` are the project's own.
    pub fn of(paths: &[PathBuf]) -> Self {
        let is_ours = |path: &PathBuf| {
            let folder = path.parent().and_then(Path::file_name);
            path.is_file() && folder.is_some_and(|name| name == "results")
        };
        if paths.iter().all(is_ours) { Self::Results } else { Self::Studies }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Results => {
                "Made from the packed studies in `results/` by \
                 `touchstream verify results/*.tar.gz --markdown docs/REPRODUCTION.md`, and nothing else."
            }
            Self::Studies => {
                "Written by `touchstream verify STUDY... --markdown FILE` from the studies below, and \
                 nothing else."
            }
        }
    }
}

/// The text of the page.
pub fn reproduction_page(all: &[Evidence], made_from: MadeFrom) -> String {
    let columns = judged_columns(all);
    let mut text =
        format!("# Reproduction\n\nWhich claims of the paper hold here. {} {HEAD}", made_from.words());
    text += &at_a_glance(&columns);
    for evidence in all {
        text += &section(evidence, &columns);
    }
    text
}

/// Images, encoder and the settings that differ from the defaults.
pub fn heading(evidence: &Evidence) -> String {
    let Evidence { images, encoder, touches, settings, .. } = evidence;
    let mut text = format!("{} with {}", plain(&redact_source(images)), plain(&redact_source(encoder)));
    if *touches != Counting::Default {
        text += &format!(", touches {}", touches.word());
    }
    settings.iter().for_each(|setting| text += &format!(", `{}`", plain(setting)));
    text
}

fn section(evidence: &Evidence, columns: &[Judged]) -> String {
    let Evidence { touches, studies, verdicts, left_out, unread, .. } = evidence;
    let mut text = format!("\n## {}\n\n", heading(evidence));
    let count = |outcome| verdicts.iter().filter(|verdict| verdict.outcome == outcome).count();
    text += &format!(
        "{} reproduced, {} not reproduced, {} without enough data.",
        count(VerdictKind::Reproduced),
        count(VerdictKind::NotReproduced),
        count(VerdictKind::NotEnoughData)
    );
    for Judged { letter, preset, .. } in columns.iter().filter(|column| column.is_of(evidence)) {
        text += &format!(" Preset `{preset}` is **{letter}** above.");
    }
    text += "\n\n";
    let smoke = evidence.smoke_studies();
    if !smoke.is_empty() {
        text += &format!("**{}**\n\n", smoke_words(&smoke));
    }
    text += "| study | scale | runs | seeds | touch scale | images | encoder | commit |\n|---|---|---|---|---|---|---|---|\n";
    for study in studies {
        text += &study.row();
    }
    text += "\n";
    for study in studies {
        let commands = study.starts.iter().map(|start| one_line(&redact_command(&start.command)));
        let mut shown: Vec<String> = Vec::new();
        for command in commands {
            if !shown.contains(&command) {
                text += &format!("    {command}\n");
                shown.push(command);
            }
        }
    }
    // Studies that are older than the setting do not contain the touch scale.
    if let Counting::Everywhere(edge) = touches
        && studies.iter().any(|study| !study.says_touch_scale)
    {
        text += &format!("\nTo repeat these studies, add `--touch-scale {edge}` to commands without it.\n");
    }
    text += &verdict_rows(verdicts);
    if !left_out.is_empty() || !unread.is_empty() {
        text += "\nLeft out:\n\n";
        let all = unread.iter().chain(left_out);
        all.for_each(|LeftOut { what, why }| text += &format!("- {}: {}\n", plain(what), plain(why)));
    }
    text
}

/// A warning that verdicts on studies of scale `smoke` mean nothing.
pub fn smoke_words(studies: &[&str]) -> String {
    format!(
        "Scale smoke: {}. These runs only show that everything works; they are too short for verdicts.",
        studies.join(", ")
    )
}

/// One row per claim with runs: first those with a verdict, then those without enough data.
fn verdict_rows(verdicts: &[Verdict]) -> String {
    let mut sorted: Vec<&Verdict> = verdicts.iter().filter(|verdict| verdict.has_runs).collect();
    if sorted.is_empty() {
        return String::new();
    }
    sorted.sort_by_key(|verdict| (verdict.outcome == VerdictKind::NotEnoughData, verdict.preset.clone()));
    let mut text =
        "\n| claim | preset | verdict | paper | found | n | why |\n|---|---|---|---|---|---|---|\n"
            .to_owned();
    for verdict in sorted {
        let cells = [
            verdict.claim.as_str(),
            &verdict.preset,
            &format!("**{}**", verdict.outcome.label()),
            &verdict.paper,
            &verdict.found,
            &verdict.n,
            &verdict.why,
        ];
        let cells: Vec<String> = cells.iter().map(|cell| plain(cell)).collect();
        text += &format!("| {} |\n", cells.join(" | "));
    }
    text
}

const HEAD: &str = "*Reproduced* (yes) and *not reproduced* (no) are measured results, with our default settings and with the paper's \
    (preset `paper`); *not enough data* (–): runs are missing, too few or too short, for the reason given. Intervals are \
    95 %. Runs of scale `short` are short: localization in particular is not learned to its end \
    ([localization-and-scenes.md](localization-and-scenes.md) has longer runs). The touch scale is the value of a touch \
    coordinate at the screen edge, as recorded in the runs; it changes results considerably \
    ([module-results.md](module-results.md#touch-scale)), so studies with other scales are judged separately.\n";

/// Words from a study, which anybody may have made: on one line, in one cell, and without markup.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let text = one_line(text);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, chars.peek()) {
            ('|', _) => plain += "\\|",
            ('`', _) => plain.push('\''),
            ('<', Some(next)) if next.is_alphabetic() || "/!?".contains(*next) => plain += "&lt;",
            (']', Some('(' | '[')) => plain += "]\\",
            (c, _) => plain.push(c),
        }
    }
    plain
}

fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

impl StudyUsed {
    fn row(&self) -> String {
        let short = |hashes: &BTreeSet<String>| {
            hashes
                .iter()
                .map(|hash| format!("`{}`", plain(&hash.chars().take(12).collect::<String>())))
                .collect::<Vec<_>>()
                .join(", ")
        };
        let seeds: Vec<String> = self.seeds.iter().map(u64::to_string).collect();
        let commits: BTreeSet<&str> = self.starts.iter().map(|start| start.commit.as_str()).collect();
        let failed = if self.n_failed > 0 { format!(", {} failed", self.n_failed) } else { String::new() };
        format!(
            "| {} | {} | {} of {}{failed} | {} | {} | {} | {} | {} |\n",
            plain(&self.name),
            self.scale.name(),
            self.n_complete,
            self.n_runs,
            seeds.join(", "),
            self.touches,
            short(&self.data_hashes),
            short(&self.encoder_hashes),
            plain(&commits.into_iter().collect::<Vec<_>>().join(", "))
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_study_are_no_markup() {
        let said = plain("a|b\n## c `d` <script>x</script> [e](f) [0.1, 0.2] 1 < 2");
        assert_eq!(said, "a\\|b ## c 'd' &lt;script>x&lt;/script> [e]\\(f) [0.1, 0.2] 1 < 2");
    }
}
