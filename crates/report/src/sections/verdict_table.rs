//! The table of verdicts.

use crate::study::table::{Columns, Table};
use touchstream_analysis::Verdict;

pub fn verdict_table(verdicts: &[&Verdict]) -> Table {
    Columns::of(verdicts)
        .text("claim_id", "id", |verdict| verdict.claim_id.clone())
        .text("claim", "claim", |verdict| verdict.claim.clone())
        .text("preset", "preset", |verdict| verdict.preset.clone())
        .text("outcome", "outcome", |verdict| verdict.outcome.label().to_owned())
        .text("paper", "paper", |verdict| verdict.paper.clone())
        .text("found", "found", |verdict| verdict.found.clone())
        .text("n", "n", |verdict| verdict.n.clone())
        .text("why", "why", |verdict| verdict.why.clone())
        .table("verdicts".into(), "Claims of the paper".into(), String::new())
}
