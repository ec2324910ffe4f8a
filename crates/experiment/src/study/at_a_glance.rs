//! The table of all claims and settings, at the top of the page of verdicts.

use crate::study::evidence::Evidence;
use crate::study::reproduction::heading;
use std::collections::BTreeSet;
use touchstream_analysis::{CLAIMS, VerdictKind};

/// A column of the table: the studies of one section under one preset.
pub struct Judged<'a> {
    /// `A`, `B`, ...
    pub letter: String,
    evidence: &'a Evidence,
    pub preset: &'a str,
}

/// One column for each section and preset with a verdict on any claim, in the order of the sections.
pub fn judged_columns(all: &[Evidence]) -> Vec<Judged<'_>> {
    let mut columns: Vec<Judged> = Vec::new();
    for evidence in all {
        let judged = evidence.verdicts.iter().filter(|verdict| verdict.outcome != VerdictKind::NotEnoughData);
        let presets: BTreeSet<&str> = judged.map(|verdict| verdict.preset.as_str()).collect();
        for preset in presets {
            columns.push(Judged { letter: letter(columns.len()), evidence, preset });
        }
    }
    columns
}

/// The table, after the list of its columns.
pub fn at_a_glance(columns: &[Judged]) -> String {
    if columns.is_empty() {
        return "\nNo claim can be judged yet.\n".to_owned();
    }
    let mut text = String::from("\n## At a glance\n\n");
    for Judged { letter, evidence, preset } in columns {
        text += &format!(
            "- **{letter}**: {}, preset `{preset}`, {}\n",
            heading(evidence),
            seeds(evidence, preset)
        );
    }
    let letters: Vec<&str> = columns.iter().map(|column| column.letter.as_str()).collect();
    text += &format!("\n| claim | {} |\n|---|{}\n", letters.join(" | "), "---|".repeat(columns.len()));
    for claim in CLAIMS {
        let cells: Vec<&str> = columns.iter().map(|column| column.cell(claim.id)).collect();
        text += &format!("| {} | {} |\n", claim.short, cells.join(" | "));
    }
    text
}

impl Judged<'_> {
    /// Whether this section belongs to the column.
    pub fn is_of(&self, evidence: &Evidence) -> bool {
        std::ptr::eq(self.evidence, evidence)
    }

    fn cell(&self, claim_id: &str) -> &'static str {
        let verdicts = &self.evidence.verdicts;
        let verdict =
            verdicts.iter().find(|verdict| verdict.claim_id == claim_id && verdict.preset == self.preset);
        match verdict.map(|verdict| verdict.outcome) {
            Some(VerdictKind::Reproduced) => "yes",
            Some(VerdictKind::NotReproduced) => "no",
            Some(VerdictKind::NotEnoughData) | None => "–",
        }
    }
}

/// `A` to `Z`, then `AA`.
fn letter(idx: usize) -> String {
    let last = char::from(b'A' + (idx % 26) as u8);
    match idx / 26 {
        0 => last.to_string(),
        before => format!("{}{last}", letter(before - 1)),
    }
}

/// `seeds 1 to 3`, or `seeds 1, 4`.
fn seeds(evidence: &Evidence, preset: &str) -> String {
    let studies = evidence.studies.iter().filter(|study| study.presets.contains(&preset));
    let seeds: BTreeSet<u64> = studies.flat_map(|study| study.seeds.iter().copied()).collect();
    match (seeds.first(), seeds.last()) {
        (Some(first), Some(last)) if seeds.len() > 1 && last - first == seeds.len() as u64 - 1 => {
            format!("seeds {first} to {last}")
        }
        _ => format!("seeds {}", seeds.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_have_letters() {
        assert_eq!([0, 25, 26, 27, 701, 702].map(letter), ["A", "Z", "AA", "AB", "ZZ", "AAA"]);
    }
}
