//! What the runs of a study say, after the statistics and before the report: tables, and a verdict on each of the paper's
//! claims.
//!
//! Whatever is there is reported with how much of it there is; a run, a module or a task that is missing takes nothing else
//! with it, and what is left out is told. A claim that cannot be judged says which runs it waits for.
//!
//! ```
//! use touchstream_findings::{Outcome, Part, Point, RunRecord, findings};
//!
//! let point = |step| Point { step, reward: 0.5, train_reward: None, on_object: None, reuse: None };
//! let record = |seed| RunRecord {
//!     preset: "default".into(),
//!     module: "ems".into(),
//!     task: "localization".into(),
//!     seed,
//!     part: Part::Alone { learning_rate: None },
//!     points: [0, 1000, 2000].map(point).to_vec(),
//!     failure: None,
//! };
//! let found = findings(&[1, 2, 3].map(record), &[]);
//! let preset = &found.presets[0];
//! let verdict = |id| preset.verdicts.iter().find(|verdict| verdict.claim_id == id).unwrap();
//! assert_eq!(verdict("localization-above-0.4").outcome, Outcome::Reproduced);
//! assert_eq!(verdict("localization-above-svr").outcome, Outcome::NotEnoughData);
//! ```
//!
//! This crate knows no files, clocks, terminals or drawing.

mod band;
mod figure;
mod findings;
mod learning_rates;
mod left_out;
mod localization;
mod modules;
mod paper;
mod record;
mod run;
mod scenes;
mod switching;
mod verdicts;

pub use band::{BandPoint, MeanCurve};
pub use figure::{Averaged, Bounds, Figure};
pub use findings::{Findings, PresetFindings, findings};
pub use learning_rates::{RateArea, RateFindings};
pub use left_out::LeftOut;
pub use localization::{LocalizationFindings, ModuleIou};
pub use modules::{
    Comparison, ModuleAverage, ModuleFindings, ModuleOnTask, NormalizedArea, ProfilePoint, SeedCurve,
    TaskFindings, TaskHorizon,
};
pub use paper::{MAIN_MODULES, twelve_tasks};
pub use record::{Baseline, Part, Point, RunRecord};
pub use run::name_of;
pub use scenes::{SceneFindings, SeedHalfway};
pub use switching::{AtSwitch, OverSwitches, difference_over_switches, gain_over_switches};
pub use switching::{SeedGain, SwitchFindings, WayFindings};
pub use touchstream_statistics::end;
pub use verdicts::{CLAIMS, Claim, Outcome, Verdict};
