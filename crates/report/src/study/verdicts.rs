//! Verdicts: each claim of the paper, what was found, and whether it holds.

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

/// How many of each, and the table; nothing without verdicts.
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
    html.push_str(
        "</p>\n<div class=wide tabindex=0><table class=\"study verdicts\">\n<thead><tr><th>claim<th>verdict<th>preset\
         <th>paper<th>found<th>n<th>why</tr></thead>\n<tbody>\n",
    );
    for row in verdicts {
        let named = |name: &str, text: &str| match text {
            "" => "<td></td>".into(),
            text => format!("<td class={name} data-name={name}>{}</td>", escaped(text)),
        };
        html.push_str(&format!(
            "<tr><td class=claim>{}</td><td>{}</td>{}{}{}<td data-name=n>{}</td>{}</tr>\n",
            escaped(&row.claim),
            badge(row.outcome, row.outcome.label()),
            named("preset", &row.preset),
            named("paper", &row.paper),
            named("found", &row.found),
            escaped(&row.n),
            named("why", &row.why),
        ));
    }
    html.push_str("</tbody></table></div></section>\n");
    html
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
        for part in [
            "✓ 2 reproduced",
            "✗ 1 not reproduced",
            "… 0 not enough data",
            "✗ not reproduced",
            "<td></td></tr>",
        ] {
            assert!(html.contains(part), "{part} in {html}");
        }
        assert!(!html.contains("<b>"), "{html}");
        assert_eq!(html.matches("&lt;b&gt;&quot;").count(), 3 * 5);
    }

    #[test]
    fn without_verdicts_there_is_no_section() {
        assert_eq!(verdicts_section(&[]), "");
    }
}
