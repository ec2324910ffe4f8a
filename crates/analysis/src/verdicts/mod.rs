//! The paper's claims, each with a function that tests it.

mod efficiency;
mod final_reward;
mod judgement;
mod localization;
mod missing;
mod no_switch;
mod order;
mod study;
mod switches;
mod table;
mod voting;

pub use judgement::{Verdict, VerdictKind};
pub(crate) use study::Study;
pub(crate) use table::verdicts;
pub use table::{CLAIMS, Claim};
