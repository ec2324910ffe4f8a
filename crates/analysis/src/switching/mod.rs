//! Second tasks: how much old modules help.

mod findings;
mod gains;
mod over_switches;

pub(crate) use findings::switch_findings;
pub use findings::{SwitchFindings, WayFindings};
pub use gains::SeedGain;
pub(crate) use gains::{SwitchGains, gains_of};
pub use over_switches::{AtSwitch, OverSwitches, difference_over_switches, gain_over_switches};
