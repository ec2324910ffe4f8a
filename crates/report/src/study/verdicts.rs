//! Verdicts: each claim of the paper, our result, and whether it holds.

use crate::page::escaped;
use touchstream_analysis::{Verdict, VerdictKind};

/// A coloured badge with this text.
fn badge(kind: VerdictKind, text: &str) -> String {
    let (class, sign) = match kind {
        VerdictKind::Reproduced => ("good", '✓'),
        VerdictKind::NotReproduced => ("bad", '✗'),
        VerdictKind::NotEnoughData => ("open", '…'),
    };
    format!("<span class=\"badge {class}\">{sign} {text}</span>")
}

/// Counts and a list, with decided claims first; empty without verdicts.
pub(super) fn verdicts_section(verdicts: &[Verdict]) -> String {
    if verdicts.is_empty() {
        return String::new();
    }
    let mut html = String::from("<section id=\"verdicts\"><h2>Verdicts</h2>\n<p>");
    for kind in VerdictKind::ALL {
        let n = verdicts.iter().filter(|row| row.outcome == kind).count();
        html.push_str(&badge(kind, &format!("{n} {}", kind.label())));
        html.push('\n');
    }
    html.push_str("</p>\n");
    let (open, judged): (Vec<&Verdict>, Vec<&Verdict>) =
        verdicts.iter().partition(|row| row.outcome == VerdictKind::NotEnoughData);
    html.push_str(&list(&judged));
    if !open.is_empty() {
        let n = open.len();
        html.push_str(&format!(
            "<details><summary>Not enough data ({n} {})</summary>\n{}</details>\n",
            if n == 1 { "claim" } else { "claims" },
            list(&open)
        ));
    }
    html.push_str("</section>\n");
    html
}

fn list(verdicts: &[&Verdict]) -> String {
    if verdicts.is_empty() {
        return String::new();
    }
    let row = |row: &&Verdict| {
        let parts = [("preset", &row.preset), ("paper", &row.paper), ("found", &row.found), ("n", &row.n)];
        let parts = parts.into_iter().filter(|(_, text)| !text.is_empty());
        let parts: Vec<String> =
            parts.map(|(name, text)| format!("<span class=name>{name}:</span> {}", escaped(text))).collect();
        format!(
            "<li>{} <b>{}</b><p>{}</p><p>{}</p></li>\n",
            badge(row.outcome, row.outcome.label()),
            escaped(&row.claim),
            parts.join("; "),
            escaped(&row.why),
        )
    };
    format!("<ul class=verdicts>\n{}</ul>\n", verdicts.iter().map(row).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(outcome: VerdictKind) -> Verdict {
        let text = || "<b>\"".to_string();
        Verdict {
            claim_id: text(),
            claim: text(),
            preset: text(),
            paper: text(),
            found: text(),
            n: text(),
            has_runs: true,
            outcome,
            why: String::new(),
        }
    }

    #[test]
    fn outcomes_are_counted_and_texts_escaped() {
        let html = verdicts_section(
            &[VerdictKind::NotReproduced, VerdictKind::Reproduced, VerdictKind::Reproduced].map(verdict),
        );
        for part in ["✓ 2 reproduced", "✗ 1 not reproduced", "… 0 not enough data", "✗ not reproduced"]
        {
            assert!(html.contains(part), "{part} in {html}");
        }
        assert!(!html.contains("<b>\""), "{html}");
        assert_eq!(html.matches("&lt;b&gt;&quot;").count(), 3 * 5);
    }

    #[test]
    fn without_verdicts_there_is_no_section() {
        assert_eq!(verdicts_section(&[]), "");
    }
}
