//! What a claim comes to.

use super::missing::Missing;
use crate::figure::Beside;
use serde::Serialize;

/// Whether a claim holds here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It does.
    Reproduced,
    /// It does not, or it cannot be told from noise; `why` says which.
    NotReproduced,
    /// Runs are missing; `why` says which.
    NotEnoughData,
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
    /// Whether the claim holds.
    pub outcome: Outcome,
    /// The reason, in a sentence.
    pub why: String,
}

/// A verdict without its claim.
#[derive(Debug)]
pub(crate) struct Judgement {
    pub found: String,
    pub n: String,
    pub outcome: Outcome,
    pub why: String,
}

/// What was found, and of how many.
pub(crate) struct Found {
    pub found: String,
    pub n: String,
}

impl Found {
    pub fn nothing() -> Self {
        Self { found: "nothing".to_owned(), n: "0 runs".to_owned() }
    }

    pub fn judged(self, holds: bool, why: impl Into<String>) -> Judgement {
        let outcome = if holds { Outcome::Reproduced } else { Outcome::NotReproduced };
        Judgement { found: self.found, n: self.n, outcome, why: why.into() }
    }

    /// Of a number whose interval should lie above a level; `beside` is where it lies.
    pub fn above(self, beside: Beside, level: f64) -> Judgement {
        match beside {
            Beside::Above => self.judged(true, format!("the interval lies above {level}")),
            Beside::Below => self.judged(false, format!("the interval lies below {level}")),
            Beside::CannotTell => {
                self.judged(false, format!("no difference can be told: the interval holds {level}"))
            }
        }
    }

    pub fn missing(self, missing: &Missing) -> Judgement {
        self.not_enough(missing.to_string())
    }

    pub fn not_enough(self, why: impl Into<String>) -> Judgement {
        Judgement { found: self.found, n: self.n, outcome: Outcome::NotEnoughData, why: why.into() }
    }
}
