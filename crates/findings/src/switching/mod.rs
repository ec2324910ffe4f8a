//! Second tasks: what old modules are worth on them.

mod findings;
mod gains;

pub(crate) use findings::switch_findings;
pub use findings::{SwitchFindings, WayFindings};
pub use gains::SeedGain;
pub(crate) use gains::{SCRATCH, SwitchGains, gains_of};
