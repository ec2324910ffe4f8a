//! Predicted maps at one step of training, rounded so that they can be stored.

use crate::maps::example::Example;
use crate::maps::grid::{MAP_LEN, best_touch};
use touchstream_agents::FeatureSource;
use touchstream_env::touch::Touch;
use touchstream_modules::Skill;

/// Predicted rewards of all examples, in 255ths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MapSnapshot {
    /// Number of training steps so far.
    pub step: u64,
    /// Index of the stream's current task, from 1; the examples belong to it.
    pub lesson: u64,
    /// `[n_examples, n_maps, MAP_SIDE, MAP_SIDE]`
    pub levels: Vec<u8>,
}

impl MapSnapshot {
    /// The current predictions of a skill.
    pub fn take(
        step: u64,
        lesson: u64,
        skill: &Skill,
        examples: &[Example],
        scenes: &impl FeatureSource,
    ) -> Self {
        let levels = examples.iter().flat_map(|example| example.predicted(skill, scenes)).collect();
        Self { step, lesson, levels }
    }

    /// Number of levels in a snapshot of these examples.
    pub fn len_of(examples: &[Example]) -> usize {
        examples.iter().map(Example::n_maps).sum::<usize>() * MAP_LEN
    }

    /// The maps of each example, with the best touch of each.
    pub fn of_examples<'a>(&'a self, examples: &[Example]) -> Vec<ExampleMaps<'a>> {
        let mut rest = self.levels.as_slice();
        let maps_of = |example: &Example| {
            let (own, others) = rest.split_at(example.n_maps() * MAP_LEN);
            rest = others;
            let levels: Vec<&[u8]> = own.chunks_exact(MAP_LEN).collect();
            ExampleMaps { touches: levels.iter().map(|levels| best_touch(levels)).collect(), levels }
        };
        examples.iter().map(maps_of).collect()
    }
}

/// The maps of one example at one step of training, one for each step of the trial that is shown.
pub struct ExampleMaps<'a> {
    /// `[n_maps][MAP_SIDE, MAP_SIDE]` in 255ths.
    pub levels: Vec<&'a [u8]>,
    /// The touch with the highest predicted reward of each map; later maps are predicted after these touches.
    pub touches: Vec<Touch>,
}

/// The default steps at which maps are recorded: `n_even` evenly spaced ones for the animation, and for the image the
/// start and at most six steps that double each time, up to the end.
pub fn snapshot_steps(n_steps: u64, n_even: u64) -> Vec<u64> {
    let halvings = (0..N_STRIP as u32 - 1).map(|halvings| n_steps >> halvings);
    let even = (0..=n_even).map(|part| (u128::from(n_steps) * u128::from(part) / u128::from(n_even)) as u64);
    let mut steps: Vec<u64> = halvings.chain(even).collect();
    steps.sort_unstable();
    steps.dedup();
    steps
}

/// Maximum number of columns of maps in an image.
pub const N_STRIP: usize = 7;

/// Of many snapshots in order, those that are shown next to each other: the first, then each about twice as late, where
/// possible after a round number of steps, and the last.
pub fn strip_snapshots(snapshots: &[MapSnapshot]) -> Vec<&MapSnapshot> {
    let (Some(first), Some(last)) = (snapshots.first(), snapshots.last()) else { return Vec::new() };
    let halvings = (1..N_STRIP as u32 - 1).rev().map(|halvings| last.step >> halvings);
    let nearest = halvings.filter_map(|step| {
        let distance = |snapshot: &MapSnapshot| (snapshot.step as f64 / step.max(1) as f64).ln().abs();
        let near = snapshots.iter().filter(|snapshot| snapshot.step > 0 && distance(snapshot) < MAX_DISTANCE);
        near.min_by(|a, b| {
            let digits = n_digits(a.step).cmp(&n_digits(b.step));
            digits.then(distance(a).total_cmp(&distance(b)))
        })
    });
    let mut shown: Vec<&MapSnapshot> = std::iter::once(first).chain(nearest).chain([last]).collect();
    shown.dedup_by_key(|snapshot| snapshot.step);
    shown
}

/// Natural logarithm of the largest ratio between a snapshot's step and that of its column: half of a doubling.
const MAX_DISTANCE: f64 = std::f64::consts::LN_2 / 2.0;

/// Digits before the trailing zeros: 1 for 3,000, 3 for 1,880.
fn n_digits(mut step: u64) -> u32 {
    while step > 0 && step.is_multiple_of(10) {
        step /= 10;
    }
    step.checked_ilog10().map_or(0, |power| power + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_double_and_are_even_and_reach_both_ends() {
        assert_eq!(snapshot_steps(640, 4), [0, 20, 40, 80, 160, 320, 480, 640]);
        assert_eq!(snapshot_steps(1, 8), [0, 1]);
        let steps = snapshot_steps(30_000, 20);
        assert!(steps.len() < 30 && steps.is_sorted() && steps.last() == Some(&30_000), "{steps:?}");
    }

    #[test]
    fn a_strip_shows_the_doublings() {
        let of = |steps: &[u64]| -> Vec<MapSnapshot> {
            steps.iter().map(|&step| MapSnapshot { step, lesson: 1, levels: Vec::new() }).collect()
        };
        let shown = |steps: &[u64]| -> Vec<u64> {
            strip_snapshots(&of(steps)).iter().map(|snapshot| snapshot.step).collect()
        };
        assert_eq!(shown(&snapshot_steps(640, 20)), [0, 20, 40, 80, 160, 320, 640]);
        assert_eq!(shown(&snapshot_steps(100_000, 20)), [0, 3125, 5000, 10_000, 30_000, 50_000, 100_000]);
        let long = [0, 1880, 3000, 3752, 6000, 7504, 9000, 12_000, 15_000, 30_000, 57_000, 60_000];
        assert_eq!(shown(&long), [0, 1880, 3000, 9000, 15_000, 30_000, 60_000]);
        assert_eq!(shown(&long[..7]), [0, 3000, 6000, 9000]);
        assert_eq!(shown(&[5, 7, 8]), [5, 8]);
        assert!(shown(&[]).is_empty());
        // A snapshot is taken at the first update after its planned step.
        assert_eq!(shown(&[0, 24, 40, 88, 96, 168, 328, 648]), [0, 24, 40, 88, 168, 328, 648]);
    }
}
