//! The verdict on a claim.

use super::missing::Missing;
use crate::statistics::Relation;
use serde::Serialize;

/// Whether a claim holds here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum VerdictKind {
    Reproduced,
    /// The measurement contradicts the claim, or its interval includes 0; `why` gives the reason.
    NotReproduced,
    /// Runs are missing, too few or too short; `why` gives the reason.
    NotEnoughData,
}

impl VerdictKind {
    pub const ALL: [Self; 3] = [Self::Reproduced, Self::NotReproduced, Self::NotEnoughData];

    /// `not reproduced`.
    pub fn label(self) -> &'static str {
        match self {
            Self::Reproduced => "reproduced",
            Self::NotReproduced => "not reproduced",
            Self::NotEnoughData => "not enough data",
        }
    }
}

/// One claim of the paper, compared with our result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verdict {
    pub claim_id: String,
    pub claim: String,
    pub preset: String,
    /// The paper's value.
    pub paper: String,
    /// Our value with its interval, also if it is not enough for a verdict.
    pub found: String,
    /// Number of seeds, tasks or switches.
    pub n: String,
    /// Whether any run is relevant to this claim.
    pub has_runs: bool,
    pub outcome: VerdictKind,
    pub why: String,
}

/// A verdict before it is attached to its claim.
#[derive(Debug)]
pub(crate) struct Judgement {
    pub found: String,
    pub n: String,
    pub has_runs: bool,
    pub outcome: VerdictKind,
    pub why: String,
}

/// The measured value, and the number of runs behind it.
pub(crate) struct Found {
    found: String,
    n: String,
    has_runs: bool,
}

impl Found {
    pub fn new(found: impl Into<String>, n: impl Into<String>) -> Self {
        Self { found: found.into(), n: n.into(), has_runs: true }
    }

    pub fn nothing() -> Self {
        Self::without_runs("nothing", "0 runs")
    }

    /// There is a measurement, but no run of a module.
    pub fn without_runs(found: impl Into<String>, n: impl Into<String>) -> Self {
        Self { has_runs: false, ..Self::new(found, n) }
    }

    pub fn judged(self, holds: bool, why: impl Into<String>) -> Judgement {
        self.verdict(if holds { VerdictKind::Reproduced } else { VerdictKind::NotReproduced }, why)
    }

    fn verdict(self, outcome: VerdictKind, why: impl Into<String>) -> Judgement {
        let Self { found, n, has_runs } = self;
        Judgement { found, n, has_runs, outcome, why: why.into() }
    }

    /// For a value whose interval must lie above a level.
    pub fn above(self, relation: Relation, level: f64) -> Judgement {
        match relation {
            Relation::Above => self.judged(true, format!("the interval lies above {level}")),
            Relation::Below => self.judged(false, format!("the interval lies below {level}")),
            Relation::Unclear => {
                self.judged(false, format!("no significant difference: the interval includes {level}"))
            }
        }
    }

    pub fn missing(self, missing: &Missing) -> Judgement {
        self.not_enough(missing.to_string())
    }

    pub fn not_enough(self, why: impl Into<String>) -> Judgement {
        self.verdict(VerdictKind::NotEnoughData, why)
    }
}
