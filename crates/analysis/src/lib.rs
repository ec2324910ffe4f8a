//! Analysis of run results: statistics, tables of findings, and a verdict on each of the paper's claims.
//!
//! If a run, module or task is missing, the others are still analysed, and every exclusion is listed with its reason.
//! If a claim cannot be tested, its verdict names the runs that are missing.
//!
//! ```
//! use touchstream_analysis::{Point, RunKind, RunRecord, VerdictKind, findings};
//!
//! let point = |step| Point { step, reward: 0.5, train_reward: None, on_object: None, reuse: None };
//! let record = |seed| RunRecord {
//!     preset: "default".into(),
//!     module: "ems".into(),
//!     task: "localization".into(),
//!     seed,
//!     kind: RunKind::SingleTask,
//!     learning_rate: None,
//!     base_curve: Vec::new(),
//!     points: [0, 1000, 2000].map(point).to_vec(),
//!     failure: None,
//! };
//! let found = findings(&[1, 2, 3].map(record), &[]);
//! let preset = &found.presets[0];
//! let verdict = |id| preset.verdicts.iter().find(|verdict| verdict.claim_id == id).unwrap();
//! assert_eq!(verdict("localization-above-0.4").outcome, VerdictKind::Reproduced);
//! assert_eq!(verdict("localization-above-svr").outcome, VerdictKind::NotEnoughData);
//! ```
//!
//! This crate does not use files, clocks, terminals or drawing.

#![deny(clippy::print_stdout, clippy::print_stderr)]

mod band;
mod continual;
mod counted;
mod findings;
mod learning_rates;
mod left_out;
mod localization;
mod modules;
mod paper;
mod record;
mod run;
mod scenes;
pub mod statistics;
mod switch_method;
mod switching;
mod verdicts;

pub use band::{MeanCurve, MeanPoint};
pub use continual::{
    ContinualMetrics, ContinualRewards, StreamResults, TaskCurves, TaskResult, continual_metrics,
};
pub use counted::thousands;
pub use findings::{Findings, PresetFindings, findings};
pub use learning_rates::{RateArea, RateFindings};
pub use left_out::LeftOut;
pub use localization::{LocalizationFindings, ModuleIou};
pub use modules::{
    Comparison, ModuleAverage, ModuleFindings, ModuleOnTask, NormalizedArea, SeedCurve, TaskFindings,
    TaskHorizon,
};
pub use paper::{MAIN_MODULES, twelve_tasks};
pub use record::{Baseline, Point, RunKind, RunRecord};
pub use run::name_of;
pub use scenes::{SceneFindings, SeedHalfway};
pub use statistics::{Estimate, Interval, PooledEstimate, ProfilePoint, end};
pub use switch_method::{InitialValues, SwitchMethod, UnknownSwitchMethod, VotingMethod};
pub use switching::{AtSwitch, OverSwitches, difference_over_switches, gain_over_switches};
pub use switching::{SeedGain, SwitchFindings, WayFindings};
pub use verdicts::{CLAIMS, Claim, Verdict, VerdictKind};
