//! Gains of methods at each switch and over all switches, and differences between methods with the same seeds.

use super::findings::SwitchFindings;
use crate::paper::NO_SWITCH;
use crate::statistics::Estimate;
use crate::switch_method::SwitchMethod;
use std::collections::BTreeMap;

/// A quantity at several switches; `no-switch` is ignored.
#[derive(Clone, Debug, PartialEq)]
pub struct OverSwitches<'a> {
    /// The switches that have a value, in the order given.
    pub switches: Vec<AtSwitch<'a>>,
    /// The mean of the switches' means, which have equal weights; its interval is over switches.
    pub over_switches: Estimate,
    /// For each seed that all switches have, the mean over switches; the interval of their mean is over seeds. `None`
    /// if there is no such seed.
    pub over_seeds: Option<Estimate>,
    pub median: f64,
    /// Number of switches whose mean is above 0.
    pub n_positive: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub struct AtSwitch<'a> {
    pub found: &'a SwitchFindings,
    pub mean: Estimate,
    pub seeds: BTreeMap<u64, f64>,
}

/// RGain averaged over methods, for the seeds that all of them have. `None` if no switch has such a seed.
pub fn gain_over_switches<'a>(
    switches: &[&'a SwitchFindings],
    ways: &[SwitchMethod],
) -> Option<OverSwitches<'a>> {
    OverSwitches::of(switches, |found| mean_of_each_seed(ways.iter().map(|&way| r_gains(found, way))))
}

/// RGain of the first method of each pair minus that of the second, averaged over pairs, for the seeds that all of them
/// have. `None` if no switch has such a seed.
pub fn difference_over_switches<'a>(
    switches: &[&'a SwitchFindings],
    pairs: &[(SwitchMethod, SwitchMethod)],
) -> Option<OverSwitches<'a>> {
    let difference = |found: &SwitchFindings, &(one, other): &(SwitchMethod, SwitchMethod)| {
        let other = r_gains(found, other);
        let both =
            r_gains(found, one).into_iter().filter_map(|(seed, gain)| Some((seed, gain - other.get(&seed)?)));
        both.collect()
    };
    OverSwitches::of(switches, |found| mean_of_each_seed(pairs.iter().map(|pair| difference(found, pair))))
}

fn r_gains(found: &SwitchFindings, way: SwitchMethod) -> BTreeMap<u64, f64> {
    let ways = found.ways.iter().filter(|known| known.way == way);
    ways.flat_map(|way| &way.seeds).filter_map(|seed| Some((seed.seed, seed.r_gain?))).collect()
}

/// For each seed that all have, the mean of its values.
fn mean_of_each_seed(all: impl Iterator<Item = BTreeMap<u64, f64>>) -> BTreeMap<u64, f64> {
    let all: Vec<BTreeMap<u64, f64>> = all.collect();
    let seeds = all.first().into_iter().flat_map(BTreeMap::keys);
    let mean = |seed: &u64| {
        let numbers: Option<Vec<f64>> = all.iter().map(|one| one.get(seed).copied()).collect();
        Some((*seed, numbers?.iter().sum::<f64>() / all.len() as f64))
    };
    seeds.filter_map(mean).collect()
}

impl<'a> OverSwitches<'a> {
    fn of(
        switches: &[&'a SwitchFindings],
        seeds_at: impl Fn(&SwitchFindings) -> BTreeMap<u64, f64>,
    ) -> Option<Self> {
        let switches = switches.iter().filter(|found| found.switch != NO_SWITCH);
        let at = |found: &&'a SwitchFindings| {
            let seeds = seeds_at(found);
            let mean = Estimate::of(&seeds.values().copied().collect::<Vec<f64>>())?;
            Some(AtSwitch { found, mean, seeds })
        };
        let switches: Vec<AtSwitch> = switches.filter_map(at).collect();
        let means: Vec<f64> = switches.iter().map(|at| at.mean.value).collect();
        let of_seeds = mean_of_each_seed(switches.iter().map(|at| at.seeds.clone()));
        Some(Self {
            over_switches: Estimate::of(&means)?,
            over_seeds: Estimate::of(&of_seeds.values().copied().collect::<Vec<f64>>()),
            median: median(&means)?,
            n_positive: means.iter().filter(|&&mean| mean > 0.0).count(),
            switches,
        })
    }
}

fn median(numbers: &[f64]) -> Option<f64> {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    let upper = *sorted.get(sorted.len() / 2)?;
    Some(if sorted.len() % 2 == 1 { upper } else { (sorted[sorted.len() / 2 - 1] + upper) / 2.0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::band::MeanCurve;
    use crate::switching::{SeedGain, WayFindings};

    fn switch(name: &str, ways: &[(SwitchMethod, &[(u64, f64)])]) -> SwitchFindings {
        let seed = |&(seed, gain): &(u64, f64)| SeedGain {
            seed,
            area: 0.5,
            r_gain: Some(gain),
            t_gain: None,
            early_reward: 0.5,
            scratch_start: None,
            base_end: None,
            reuse_start: None,
            reuse_end: None,
        };
        let way = |&(way, seeds): &(SwitchMethod, &[(u64, f64)])| WayFindings {
            way,
            curve: MeanCurve { n: seeds.len(), points: Vec::new() },
            reuse: None,
            area: Estimate { value: 0.5, interval: None, n: seeds.len() },
            r_gain: None,
            t_gain: None,
            seeds: seeds.iter().map(seed).collect(),
        };
        SwitchFindings {
            switch: name.into(),
            base_task: "sr-2way".into(),
            task: "sr-2way".into(),
            module: "ems".into(),
            base_curve: None,
            horizon_steps: 100,
            ways: ways.iter().map(way).collect(),
            left_out: Vec::new(),
        }
    }

    #[test]
    fn intervals_are_over_switches_or_over_seeds() {
        let found = [
            switch("no-switch", &[(SwitchMethod::LAYER, &[(1, 9.0)])]),
            switch("switch-1", &[(SwitchMethod::LAYER, &[(1, 0.25), (2, 0.75)])]),
            switch("switch-2", &[(SwitchMethod::LAYER, &[(1, -0.5), (2, 0.0), (3, 0.5)])]),
            switch("switch-3", &[(SwitchMethod::UNIT, &[(1, 9.0)])]),
        ];
        let switches: Vec<&SwitchFindings> = found.iter().collect();
        let layer = gain_over_switches(&switches, &[SwitchMethod::LAYER]).unwrap();
        // At the first switch the mean is 0.5, at the second 0; the seeds that both have average -0.125 and 0.375.
        assert_eq!((layer.over_switches.value, layer.over_switches.n), (0.25, 2));
        assert_eq!(layer.over_seeds.map(|figure| (figure.value, figure.n)), Some((0.125, 2)));
        assert_eq!((layer.median, layer.n_positive), (0.25, 1));
        let ns: Vec<(&str, usize)> =
            layer.switches.iter().map(|at| (at.found.switch.as_str(), at.mean.n)).collect();
        assert_eq!(ns, [("switch-1", 2), ("switch-2", 3)]);
        assert_eq!(gain_over_switches(&switches, &[SwitchMethod::LAYER_PLAIN]), None);
    }

    #[test]
    fn differences_are_of_the_same_seeds() {
        let found = [switch(
            "switch-1",
            &[
                (SwitchMethod::LAYER, &[(1, 0.5), (2, 1.0), (4, 9.0)]),
                (SwitchMethod::UNIT, &[(1, 0.25), (2, 0.25), (3, 9.0)]),
                (SwitchMethod::FineTuning, &[(1, 0.0), (2, 0.5)]),
            ],
        )];
        let switches: Vec<&SwitchFindings> = found.iter().collect();
        #[track_caller]
        fn check(
            switches: &[&SwitchFindings],
            pairs: &[(SwitchMethod, SwitchMethod)],
            wanted: &[(u64, f64)],
        ) {
            let found = difference_over_switches(switches, pairs).unwrap();
            assert_eq!(found.switches[0].seeds.clone().into_iter().collect::<Vec<_>>(), wanted);
        }
        let [a, b, c] = [SwitchMethod::LAYER, SwitchMethod::UNIT, SwitchMethod::FineTuning];
        check(&switches, &[(a, b)], &[(1, 0.25), (2, 0.75)]);
        check(&switches, &[(a, b), (a, c)], &[(1, 0.375), (2, 0.625)]);
        assert_eq!(difference_over_switches(&switches, &[(a, SwitchMethod::OldAlone)]), None);
        assert_eq!(difference_over_switches(&switches, &[]), None);
    }

    #[test]
    fn a_median_is_in_the_middle() {
        for (numbers, wanted) in
            [(vec![], None), (vec![3.0, 1.0, 2.0], Some(2.0)), (vec![4.0, 1.0], Some(2.5))]
        {
            assert_eq!(median(&numbers), wanted);
        }
    }
}
