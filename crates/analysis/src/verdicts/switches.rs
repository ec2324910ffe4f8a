//! Gains over switches. Each switch has the same weight, regardless of its number of seeds; two learners are compared
//! over the seeds that both have.

use super::judgement::Found;
use super::missing::Missing;
use super::study::Study;
use crate::counted::{count, seeds};
use crate::paper::switches;
use crate::statistics::Estimate;
use crate::switch_method::SwitchMethod;
use crate::switching::{SeedGain, SwitchGains, gains_of};
use std::fmt;

/// A module and a method of learning second tasks.
#[derive(Clone, Copy)]
pub(crate) struct Learner {
    pub module: &'static str,
    pub way: SwitchMethod,
}

impl fmt::Display for Learner {
    /// `ems by layer`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} by {}", self.module, self.way)
    }
}

/// Switches in the paper's order, each with a mean over seeds.
pub(crate) type SwitchMeans = Vec<(&'static str, Estimate)>;

fn mean_at<'a>(means: &'a [(&'static str, Estimate)], switch: &str) -> Option<&'a Estimate> {
    means.iter().find(|(name, _)| *name == switch).map(|(_, mean)| mean)
}

/// The mean gain at each of the fifteen switches for which the learner has runs.
pub(crate) fn switch_means(
    study: &Study,
    learner: Learner,
    gain: fn(&SeedGain) -> Option<f64>,
) -> SwitchMeans {
    let gains = gains_of(study.switches, learner.module, learner.way, gain);
    let of_switch = |switch: &'static str| {
        let numbers: Vec<f64> = gains.get(switch)?.values().copied().collect();
        Some((switch, Estimate::of(&numbers)?))
    };
    switches().filter_map(of_switch).collect()
}

/// Notes the switches for which a learner lacks runs.
pub(crate) fn need_switches(missing: &mut Missing, learner: Learner, means: &[(&'static str, Estimate)]) {
    let Learner { module, way } = learner;
    for switch in switches() {
        let n_there = mean_at(means, switch).map_or(0, |mean| mean.n);
        missing.need(n_there, format_args!("{module} at {switch}, {way} with {}", SwitchMethod::Scratch));
    }
}

/// Two learners compared at the switches and seeds that both have.
pub(crate) struct SwitchPairs {
    pub pairs: Vec<SwitchPair>,
}

/// Two learners at one switch, over the same seeds.
pub(crate) struct SwitchPair {
    switch: &'static str,
    pub a: f64,
    pub b: f64,
    n_seeds: usize,
}

impl SwitchPairs {
    /// Pairs at those of the fifteen switches at which both have a seed.
    pub fn new(study: &Study, a: Learner, b: Learner, gain: fn(&SeedGain) -> Option<f64>) -> Self {
        let of = |learner: Learner| gains_of(study.switches, learner.module, learner.way, gain);
        Self::of(&of(a), &of(b))
    }

    fn of(a: &SwitchGains, b: &SwitchGains) -> Self {
        let pair = |switch: &'static str| {
            let (a, b) = (a.get(switch)?, b.get(switch)?);
            let both = a.iter().filter_map(|(seed, a)| Some((*a, *b.get(seed)?)));
            let (a, b): (Vec<f64>, Vec<f64>) = both.unzip();
            Some(SwitchPair {
                switch,
                a: Estimate::of(&a)?.value,
                b: Estimate::of(&b)?.value,
                n_seeds: a.len(),
            })
        };
        Self { pairs: switches().filter_map(pair).collect() }
    }

    /// Keeps the switches with at least `n_seeds` common seeds.
    pub fn with_seeds(mut self, n_seeds: usize) -> Self {
        self.pairs.retain(|pair| pair.n_seeds >= n_seeds);
        self
    }

    /// Notes the switches with too few common seeds.
    pub fn need(&self, missing: &mut Missing, a: Learner, b: Learner) {
        for switch in switches() {
            let pair = self.pairs.iter().find(|pair| pair.switch == switch);
            let n_there = pair.map_or(0, |pair| pair.n_seeds);
            missing.need(n_there, format_args!("{a} and {b} at {switch}, with the same seed"));
        }
    }

    /// The mean of a value per switch, with an interval over switches.
    pub fn figure(&self, of_pair: impl Fn(f64, f64) -> f64) -> Option<Estimate> {
        Estimate::of(&self.pairs.iter().map(|pair| of_pair(pair.a, pair.b)).collect::<Vec<f64>>())
    }

    pub fn found(&self, text: impl Into<String>) -> Found {
        if self.pairs.is_empty() {
            return Found::nothing();
        }
        let n_seeds = || self.pairs.iter().map(|pair| pair.n_seeds);
        let (fewest, most) = (n_seeds().min().unwrap_or(0), n_seeds().max().unwrap_or(0));
        let n = format!("{}, {} each", count(self.pairs.len(), "switch"), seeds(fewest, most));
        Found::new(text, n)
    }
}
