//! Gains seed by seed, and the same over switches.

use super::findings::{SwitchFindings, WayFindings};
use crate::switch_method::SwitchMethod;
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SeedGain {
    pub seed: u64,
    /// Mean reward along the curve.
    pub area: f64,
    /// Over the run from scratch with the same seed; `None` without it, and where its area is 0.
    pub r_gain: Option<f64>,
    /// In reward per 1,000 steps; as `r_gain`.
    pub t_gain: Option<f64>,
    /// Of the first evaluation after the cue that is not within the first 5 % of the steps.
    pub early_reward: f64,
    /// Of the first evaluation of the run from scratch with the same seed: what the task earns before learning.
    pub scratch_start: Option<f64>,
    /// Validation reward of the base at its end.
    pub base_end: Option<f64>,
    /// Vote share of the old modules at the first evaluation that recorded it.
    pub reuse_start: Option<f64>,
    /// Vote share of the old modules at the end: the mean of the last tenth.
    pub reuse_end: Option<f64>,
}

/// Gains of one method by switch, then by base task, second task and seed.
pub(crate) type SwitchGains<'a> = BTreeMap<&'a str, BTreeMap<(&'a str, &'a str, u64), f64>>;

/// The gains of a module and a method at each switch that has one.
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
