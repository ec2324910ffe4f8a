//! What a claim comes to.

use super::missing::Missing;
use crate::statistics::Relation;
use serde::Serialize;

/// Whether a claim holds here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum VerdictKind {
    /// It does.
    Reproduced,
    /// It does not, or it cannot be told from noise; `why` says which.
    NotReproduced,
    /// Runs are missing, or too few or too short to tell; `why` says which.
    NotEnoughData,
}

impl VerdictKind {
    /// All of them, as they are counted.
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

/// One claim of the paper beside what was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// Stable.
    pub claim_id: String,
    /// The paper's words, in short.
    pub claim: String,
    /// Of the runs that were judged.
    pub preset: String,
    /// The paper's figure.
    pub paper: String,
    /// Ours, with its interval; also where it is not enough to judge.
    pub found: String,
    /// Of how many seeds, tasks or switches.
    pub n: String,
    /// Whether there is any run for it: claims without one only say so.
    pub has_runs: bool,
    /// Whether the claim holds.
    pub outcome: VerdictKind,
    /// The reason, in a sentence.
    pub why: String,
}

/// A verdict without its claim.
#[derive(Debug)]
pub(crate) struct Judgement {
    pub found: String,
    pub n: String,
    pub has_runs: bool,
    pub outcome: VerdictKind,
    pub why: String,
}

/// What was found, and of how many.
pub(crate) struct Found {
    found: String,
    n: String,
    has_runs: bool,
}

impl Found {
    /// Of some runs.
    pub fn new(found: impl Into<String>, n: impl Into<String>) -> Self {
        Self { found: found.into(), n: n.into(), has_runs: true }
    }

    /// There is no run.
    pub fn nothing() -> Self {
        Self::without_runs("nothing", "0 runs")
    }

    /// There is something, but no run.
    pub fn without_runs(found: impl Into<String>, n: impl Into<String>) -> Self {
        Self { has_runs: false, ..Self::new(found, n) }
    }

    pub fn judged(self, holds: bool, why: impl Into<String>) -> Judgement {
        self.comes_to(if holds { VerdictKind::Reproduced } else { VerdictKind::NotReproduced }, why)
    }

    fn comes_to(self, outcome: VerdictKind, why: impl Into<String>) -> Judgement {
        let Self { found, n, has_runs } = self;
        Judgement { found, n, has_runs, outcome, why: why.into() }
    }

    /// Of a number whose interval should lie above a level; `beside` is where it lies.
    pub fn above(self, beside: Relation, level: f64) -> Judgement {
        match beside {
            Relation::Above => self.judged(true, format!("the interval lies above {level}")),
            Relation::Below => self.judged(false, format!("the interval lies below {level}")),
            Relation::Unclear => {
                self.judged(false, format!("no difference can be told: the interval holds {level}"))
            }
        }
    }

    pub fn missing(self, missing: &Missing) -> Judgement {
        self.not_enough(missing.to_string())
    }

    pub fn not_enough(self, why: impl Into<String>) -> Judgement {
        self.comes_to(VerdictKind::NotEnoughData, why)
    }
}
