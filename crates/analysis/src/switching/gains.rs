//! Gains of each seed, collected over switches.

use super::findings::{SwitchFindings, WayFindings};
use crate::switch_method::SwitchMethod;
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SeedGain {
    pub seed: u64,
    /// Mean reward along the curve.
    pub area: f64,
    /// RGain over the run from scratch with the same seed; `None` without such a run, or if its area is 0.
    pub r_gain: Option<f64>,
    /// TGain over the same run, in reward per 1,000 steps.
    pub t_gain: Option<f64>,
    /// Reward at the first evaluation after the cue that is not within the first 5 % of the steps.
    pub early_reward: f64,
    /// Reward at the first evaluation of the run from scratch with the same seed, before any learning.
    pub scratch_start: Option<f64>,
    /// Final reward on the base task.
    pub base_end: Option<f64>,
    /// Vote share of the old modules at the first evaluation that recorded it.
    pub reuse_start: Option<f64>,
    /// Vote share of the old modules at the end: the mean of the last tenth.
    pub reuse_end: Option<f64>,
}

/// Gains of one method by switch, then by base task, second task and seed.
pub(crate) type SwitchGains<'a> = BTreeMap<&'a str, BTreeMap<(&'a str, &'a str, u64), f64>>;

/// The gains of a module and a method at each switch where there are any.
pub(crate) fn gains_of<'a>(
    switches: &'a [SwitchFindings],
    module: &str,
    way: SwitchMethod,
    gain: fn(&SeedGain) -> Option<f64>,
) -> SwitchGains<'a> {
    let mut found = SwitchGains::new();
    for switch in switches.iter().filter(|switch| switch.module == module) {
        let ways = switch.ways.iter().filter(|found: &&WayFindings| found.way == way);
        for seed in ways.flat_map(|found| &found.seeds) {
            if let Some(gain) = gain(seed) {
                let place = (switch.base_task.as_str(), switch.task.as_str(), seed.seed);
                found.entry(&switch.switch).or_default().insert(place, gain);
            }
        }
    }
    found
}
