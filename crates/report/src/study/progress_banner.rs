//! The banner at the top of a study's page: how many runs are complete, and which are missing.

use crate::page::escaped;

/// Number of runs in each state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunCounts {
    pub n_done: u64,
    pub n_failed: u64,
    pub n_running: u64,
    pub n_missing: u64,
}

impl RunCounts {
    pub fn n_total(&self) -> u64 {
        self.n_done + self.n_failed + self.n_running + self.n_missing
    }

    pub fn is_complete(&self) -> bool {
        self.n_done == self.n_total()
    }
}

/// Longer lists are collapsed.
const LONGEST_OPEN_LIST: usize = 6;

/// The banner. `missing` contains names of runs or groups of runs, `failed` names and reasons.
pub(super) fn progress_banner(counts: &RunCounts, missing: &[String], failed: &[(String, String)]) -> String {
    let (n_done, n_total) = (counts.n_done, counts.n_total());
    if counts.is_complete() {
        return format!(
            "<div class=\"banner complete\" role=status><p class=state>Complete: all {n_total} runs of this study.</p></div>\n"
        );
    }
    let mut html = String::from("<div class=\"banner partial\" role=status>\n");
    html.push_str(&format!("<p class=state>Partial: {n_done} of {n_total} runs.</p>\n"));
    html.push_str("<div class=shares>");
    let others = [(counts.n_failed, "failed"), (counts.n_running, "running")];
    for (n, class) in [(n_done, "done")].iter().chain(&others) {
        let percent = 100.0 * *n as f64 / n_total as f64;
        html.push_str(&format!("<span class={class} style=\"width:{percent:.2}%\"></span>"));
    }
    html.push_str("</div>\n");
    let states: Vec<String> = others
        .iter()
        .chain(&[(counts.n_missing, "missing")])
        .filter(|(n, _)| *n > 0)
        .map(|(n, state)| format!("{n} {state}"))
        .collect();
    html.push_str(&format!(
        "<p>Everything below is about the finished runs only; {}.</p>\n",
        states.join(", ")
    ));
    html.push_str(&list("What is missing", "runs", missing.iter().map(|run| escaped(run)).collect()));
    let failed = failed.iter().map(|(run, reason)| format!("<b>{}</b>: {}", escaped(run), escaped(reason)));
    html.push_str(&list("What failed", "reasons", failed.collect()));
    html.push_str("</div>\n");
    html
}

/// A list of items that are already escaped.
fn list(title: &str, class: &str, items: Vec<String>) -> String {
    if items.is_empty() {
        return String::new();
    }
    let rows: String = items.iter().map(|item| format!("<li>{item}</li>\n")).collect();
    if items.len() <= LONGEST_OPEN_LIST {
        format!("<p>{title}:</p><ul class={class}>\n{rows}</ul>\n")
    } else {
        let n = items.len();
        format!(
            "<details><summary>{title} ({n} entries)</summary><ul class={class}>\n{rows}</ul></details>\n"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_partial_study_says_what_is_missing() {
        let counts = RunCounts { n_done: 214, n_failed: 2, n_running: 4, n_missing: 1220 };
        let failed = [("ems/sr-2way/seed-3".into(), "<out of memory>".into())];
        let html = progress_banner(&counts, &["a <b>".into()], &failed);
        for part in [
            "Partial: 214 of 1440 runs.",
            "2 failed, 4 running, 1220 missing",
            "width:14.86%",
            "What is missing:</p>",
            "<li>a &lt;b&gt;</li>",
            "<li><b>ems/sr-2way/seed-3</b>: &lt;out of memory&gt;</li>",
        ] {
            assert!(html.contains(part), "{part} in {html}");
        }
        assert!(!html.contains("<details>"));
    }

    #[test]
    fn a_long_list_is_folded() {
        let counts = RunCounts { n_missing: 7, ..RunCounts::default() };
        let html = progress_banner(&counts, &vec!["run".into(); 7], &[]);
        assert!(html.contains("<details><summary>What is missing (7 entries)</summary>"), "{html}");
        assert!(!html.contains("What failed"));
    }

    #[test]
    fn a_complete_study_says_so() {
        let html = progress_banner(&RunCounts { n_done: 3, ..RunCounts::default() }, &[], &[]);
        assert!(html.contains("Complete: all 3 runs of this study.") && !html.contains("partial"), "{html}");
    }
}
