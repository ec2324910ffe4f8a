//! The table of verdicts.

use crate::study::table::{Cell, Table, TableColumn};
use touchstream_analysis::Verdict;

pub fn verdict_table(verdicts: &[&Verdict]) -> Table {
    let names = [
        ("claim_id", "id"),
        ("claim", "claim"),
        ("preset", "preset"),
        ("outcome", "outcome"),
        ("paper", "paper"),
        ("found", "found"),
        ("n", "n"),
        ("why", "why"),
    ];
    let row = |verdict: &&Verdict| {
        let outcome = verdict.outcome.label().to_owned();
        let Verdict { claim_id, claim, preset, paper, found, n, why, .. } = (*verdict).clone();
        [claim_id, claim, preset, outcome, paper, found, n, why].map(Cell::Text).to_vec()
    };
    Table {
        id: "verdicts".into(),
        title: "Claims of the paper".into(),
        note: String::new(),
        columns: names.map(|(name, label)| TableColumn::text(name, label)).to_vec(),
        rows: verdicts.iter().map(row).collect(),
    }
}
