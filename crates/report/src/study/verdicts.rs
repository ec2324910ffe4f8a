//! Verdicts: each claim of the paper, what was found, and whether it holds.

use crate::page::escaped;

/// One claim under one preset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerdictRow {
    /// What the paper says.
    pub claim: String,
    /// Under which preset it was looked at.
    pub preset: String,
    /// The paper's number.
    pub paper: String,
    /// The number that was found, with its interval.
    pub found: String,
    /// Of how many runs.
    pub n: String,
    /// Whether it holds.
    pub outcome: Outcome,
    /// Why that is the verdict.
    pub why: String,
}

/// Whether a claim holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It does.
    Reproduced,
    /// It does not.
    NotReproduced,
    /// That cannot be said yet.
    NotEnoughData,
}

const OUTCOMES: [Outcome; 3] = [Outcome::Reproduced, Outcome::NotReproduced, Outcome::NotEnoughData];

impl Outcome {
    /// As people read it.
    pub fn words(self) -> &'static str {
        match self {
            Outcome::Reproduced => "reproduced",
            Outcome::NotReproduced => "not reproduced",
            Outcome::NotEnoughData => "not enough data",
        }
    }

    /// A coloured badge with these words.
    fn badge(self, words: &str) -> String {
        let (class, sign) = match self {
            Outcome::Reproduced => ("good", '✓'),
            Outcome::NotReproduced => ("bad", '✗'),
            Outcome::NotEnoughData => ("open", '…'),
        };
        format!("<span class=\"badge {class}\">{sign} {words}</span>")
    }
}

/// How many of each, and the table; nothing without verdicts.
pub(super) fn verdicts_section(verdicts: &[VerdictRow]) -> String {
    if verdicts.is_empty() {
        return String::new();
    }
    let mut html = String::from("<section id=\"verdicts\"><h2>Verdicts</h2>\n<p>");
    for outcome in OUTCOMES {
        let n = verdicts.iter().filter(|row| row.outcome == outcome).count();
        html.push_str(&outcome.badge(&format!("{n} {}", outcome.words())));
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
            row.outcome.badge(row.outcome.words()),
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

    fn verdict(outcome: Outcome) -> VerdictRow {
        let text = || "<b>\"".to_string();
        VerdictRow {
            claim: text(),
            preset: text(),
            paper: text(),
            found: text(),
            n: text(),
            outcome,
            why: String::new(),
        }
    }

    #[test]
    fn outcomes_are_counted_and_texts_escaped() {
        let html = verdicts_section(
            &[Outcome::NotReproduced, Outcome::Reproduced, Outcome::Reproduced].map(verdict),
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
