//! Gains over switches: each switch counts the same, whatever its number of seeds.

use super::judgement::Found;
use super::missing::Missing;
use super::study::Study;
use crate::figure::{Figure, count, seeds};
use crate::paper::switches;
use crate::switching::{SCRATCH, SeedGain, gains_of};

/// One module learning in one way.
#[derive(Clone, Copy)]
pub(crate) struct Learner {
    pub module: &'static str,
    pub way: &'static str,
}

/// Switches in the paper's order, each with a mean over seeds.
pub(crate) type SwitchMeans = Vec<(&'static str, Figure)>;

fn mean_at<'a>(means: &'a [(&'static str, Figure)], switch: &str) -> Option<&'a Figure> {
    means.iter().find(|(name, _)| *name == switch).map(|(_, mean)| mean)
}

/// The mean gain of each of the fifteen switches that a learner was run at.
pub(crate) fn switch_means(
    study: &Study,
    learner: Learner,
    gain: fn(&SeedGain) -> Option<f64>,
) -> SwitchMeans {
    let gains = gains_of(study.switches, learner.module, learner.way, gain);
    let of_switch = |switch: &'static str| {
        let numbers: Vec<f64> = gains.get(switch)?.values().copied().collect();
        Some((switch, Figure::of(&numbers)?))
    };
    switches().filter_map(of_switch).collect()
}

/// What of the fifteen switches a learner lacks.
pub(crate) fn need_switches(missing: &mut Missing, learner: Learner, means: &[(&'static str, Figure)]) {
    let Learner { module, way } = learner;
    for switch in switches() {
        let n_there = mean_at(means, switch).map_or(0, |mean| mean.n);
        missing.need(n_there, format_args!("{module} at {switch}, {way} with {SCRATCH}"));
    }
}

/// Two learners at the switches that both have.
pub(crate) struct SwitchPairs {
    /// One a switch: the first's mean gain and the second's.
    pub pairs: Vec<(f64, f64)>,
    fewest_seeds: usize,
    most_seeds: usize,
}

impl SwitchPairs {
    /// Of the switches at which both have at least so many seeds.
    pub fn of(a: &[(&'static str, Figure)], b: &[(&'static str, Figure)], min_seeds: usize) -> Self {
        let both = a.iter().filter_map(|(switch, a)| Some((a, mean_at(b, switch)?)));
        let both: Vec<_> = both.filter(|(a, b)| a.n.min(b.n) >= min_seeds).collect();
        let n_seeds = || both.iter().flat_map(|(a, b)| [a.n, b.n]);
        Self {
            fewest_seeds: n_seeds().min().unwrap_or(0),
            most_seeds: n_seeds().max().unwrap_or(0),
            pairs: both.iter().map(|(a, b)| (a.value, b.value)).collect(),
        }
    }

    /// Of something that is computed of each pair; the interval is over switches.
    pub fn figure(&self, of_pair: impl Fn(f64, f64) -> f64) -> Option<Figure> {
        Figure::of(&self.pairs.iter().map(|&(a, b)| of_pair(a, b)).collect::<Vec<f64>>())
    }

    /// Says it with how many switches and seeds.
    pub fn found(&self, text: impl Into<String>) -> Found {
        if self.pairs.is_empty() {
            return Found::nothing();
        }
        let n = format!(
            "{}, {} each",
            count(self.pairs.len(), "switch"),
            seeds(self.fewest_seeds, self.most_seeds)
        );
        Found { found: text.into(), n }
    }
}
