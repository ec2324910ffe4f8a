//! The exact chance level and best reward of tasks whose rewards depend on the images.

use crate::mask::Mask;
use crate::pixel_box::PixelBox;
use crate::reward_map::RewardMap;
use crate::stimuli::ImageId;
use crate::task::{Basis, ExactRewards};
use crate::touch::{N_TOUCHES, SCREEN_SIDE_PX, Touch};
use crate::trial::bound::{BoundTask, Rule};
use crate::trial::corner::BestSecondTouch;
use crate::trial::drawn::{Trial, TrialState};
use crate::trial::match_pool::MatchPool;
use std::collections::HashMap;

/// Default number of screens over which exact rewards are computed: a fraction of a second per task.
pub const N_EXACT_SCREENS: usize = 64;

impl BoundTask {
    /// Exact chance level and best reward. Where they depend on the images, they are computed over at most
    /// `max_screens` evenly spaced screens of the split (for scenes: of each class); the result contains the number.
    pub fn exact_rewards(&self, max_screens: usize) -> ExactRewards {
        match &self.rule {
            Rule::Templates { pool: Some(pool), .. } if !pool.is_all() => self.pool_rewards(pool),
            Rule::Regions { .. } | Rule::Templates { .. } => self
                .task
                .geometric_rewards()
                .unwrap_or_else(|| unreachable!("regions and templates are geometry")),
            Rule::Scenes { scenes_of_class } => self.scene_rewards(scenes_of_class, max_screens),
            Rule::Boxes { objects } => self.box_rewards(objects, max_screens),
        }
    }

    /// Classes have equal weights, and so have the match screens of a class: as trials are drawn.
    fn pool_rewards(&self, pool: &MatchPool) -> ExactRewards {
        let mut map = RewardMap::zeros();
        let state = TrialState { first_touch: Some(Touch::at(0, 0)) };
        // A map depends only on the position of the rewarded template, and a pool has few different ones.
        let mut known: HashMap<(u8, u8), (f64, f64)> = HashMap::new();
        let (mut chance, mut best) = (0.0, 0.0);
        for (position, class) in self.classes.iter().enumerate() {
            let sample = ImageId::Portrait { class: *class, index: 0 };
            let entries = pool.entries(position);
            let weight = 1.0 / (entries.len() * self.classes.len()) as f64;
            for &entry in entries {
                let (placements, rewarded_slot) = (pool.screen(entry), entry.rewarded_slot);
                let rewarded = placements.as_slice()[usize::from(rewarded_slot)];
                let (map_chance, map_best) =
                    *known.entry((rewarded.top, rewarded.left)).or_insert_with(|| {
                        self.reward_map(
                            &Trial::Templates { sample, placements, rewarded_slot },
                            state,
                            &mut map,
                        );
                        (map.mean(), f64::from(map.best()))
                    });
                chance += weight * map_chance;
                best += weight * map_best;
            }
        }
        let n_all = pool.screens().len();
        let basis = Basis::Screens { n_counted: n_all, n_all };
        ExactRewards { chance, best: best.min(1.0), chance_on_object: None, basis }
    }

    /// Classes have equal weights, and so have the scenes of a class: as trials are drawn.
    fn scene_rewards(&self, scenes_of_class: &[Vec<u32>], max_screens: usize) -> ExactRewards {
        let mut map = RewardMap::zeros();
        let state = TrialState { first_touch: Some(Touch::at(0, 0)) };
        let (mut chance, mut best, mut on_object, mut n_counted) = (0.0, 0.0, 0.0, 0);
        for (class, scenes) in self.classes.iter().zip(scenes_of_class) {
            let counted = evenly_spread(scenes, max_screens);
            let weight = 1.0 / (counted.len() * self.classes.len()) as f64;
            n_counted += counted.len();
            for scene in counted {
                let sample = ImageId::Portrait { class: *class, index: 0 };
                self.reward_map(&Trial::Scene { sample, class: *class, scene }, state, &mut map);
                chance += weight * map.mean();
                best += weight * f64::from(map.best());
                let masks = self.stimuli.instances(self.split, scene).iter().map(|instance| &instance.mask);
                on_object += weight * Mask::union_of(masks).coverage();
            }
        }
        let n_all = scenes_of_class.iter().map(Vec::len).sum();
        let basis = Basis::Screens { n_counted, n_all };
        ExactRewards { chance, best: best.min(1.0), chance_on_object: Some(on_object), basis }
    }

    fn box_rewards(&self, objects: &[u32], max_screens: usize) -> ExactRewards {
        let counted = evenly_spread(objects, max_screens);
        let n_counted = counted.len();
        let basis = Basis::Screens { n_counted, n_all: objects.len() };
        let Some(allowed) = self.task.touch_transform().rewarded() else {
            return ExactRewards { chance: 0.0, best: 0.0, chance_on_object: None, basis };
        };
        let (mut chance, mut best) = (0.0, 0.0);
        for index in counted {
            let bounds = self.stimuli.object(self.split, index).bounds;
            chance += mean_iou_of_uniform_touches(bounds, allowed);
            let second = BestSecondTouch { bounds, allowed };
            best += f64::from(Touch::all().map(|first| second.after(first).1).fold(0.0, f32::max));
        }
        let n = n_counted as f64;
        ExactRewards { chance: chance / n, best: best / n, chance_on_object: None, basis }
    }
}

fn evenly_spread(items: &[u32], max_items: usize) -> Vec<u32> {
    let n = items.len().min(max_items.max(1));
    (0..n).map(|idx| items[idx * items.len() / n]).collect()
}

/// The expected IoU of a box spanned by two uniform touches with an object's box.
pub fn uniform_touches_iou(bounds: PixelBox) -> f64 {
    mean_iou_of_uniform_touches(bounds, PixelBox::SCREEN)
}

/// The mean IoU over all 50,176 x 50,176 pairs of a first and a second touch; a second touch outside `allowed` earns 0.
///
/// Rows and columns are independent, and a pair of rows matters only through its length and the part of it inside the
/// object; so pairs are first counted by (length, part inside).
fn mean_iou_of_uniform_touches(bounds: PixelBox, allowed: PixelBox) -> f64 {
    let rows = Spans::new(bounds.top(), bounds.bottom(), allowed.top(), allowed.bottom());
    let cols = Spans::new(bounds.left(), bounds.right(), allowed.left(), allowed.right());
    let object_area = bounds.area_px() as f32;
    let mut total = 0.0;
    for ((n_pairs, length), inside) in rows.n_pairs.iter().zip(&rows.length).zip(&rows.inside) {
        total += f64::from(*n_pairs) * cols.sum_of_ious(*length, *inside, object_area);
    }
    total / (N_TOUCHES as f64 * N_TOUCHES as f64)
}

/// Numbers of pairs of rows (or columns) by length and by the part of it inside the object. Pairs with no part inside
/// are excluded.
struct Spans {
    n_pairs: Vec<f32>,
    length: Vec<f32>,
    inside: Vec<f32>,
}

impl Spans {
    fn new(object_first: usize, object_last: usize, second_first: usize, second_last: usize) -> Self {
        const N: usize = SCREEN_SIDE_PX + 1;
        let mut counts = vec![0_u32; N * N];
        for first in 0..SCREEN_SIDE_PX {
            for second in second_first..=second_last {
                let (low, high) = (first.min(second), first.max(second));
                let inside = (high.min(object_last) + 1).saturating_sub(low.max(object_first));
                counts[(high - low + 1) * N + inside] += 1;
            }
        }
        let mut spans = Self { n_pairs: Vec::new(), length: Vec::new(), inside: Vec::new() };
        for (at, &n) in counts.iter().enumerate().filter(|&(at, &n)| n > 0 && at % N > 0) {
            spans.n_pairs.push(n as f32);
            spans.length.push((at / N) as f32);
            spans.inside.push((at % N) as f32);
        }
        spans
    }

    /// The sum over these pairs of columns of their IoU with a pair of rows. Single precision within a lane of a block,
    /// for which the compiler emits vector instructions, double precision beyond: accurate to six digits.
    fn sum_of_ious(&self, row_length: f32, row_inside: f32, object_area: f32) -> f64 {
        const N_LANES: usize = 8;
        const BLOCK: usize = 16 * N_LANES;
        let blocks = self.n_pairs.chunks(BLOCK).zip(self.length.chunks(BLOCK)).zip(self.inside.chunks(BLOCK));
        let mut sum = 0.0;
        for ((n_pairs, length), inside) in blocks {
            let mut lanes = [0.0_f32; N_LANES];
            let eights = n_pairs.chunks(N_LANES).zip(length.chunks(N_LANES)).zip(inside.chunks(N_LANES));
            for ((n_pairs, length), inside) in eights {
                for (((lane, n_pairs), length), inside) in
                    lanes.iter_mut().zip(n_pairs).zip(length).zip(inside)
                {
                    let shared = row_inside * inside;
                    *lane += n_pairs * shared / (row_length * length + object_area - shared);
                }
            }
            sum += lanes.iter().map(|&lane| f64::from(lane)).sum::<f64>();
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::{RunSeed, StreamName};

    #[test]
    fn the_exact_mean_iou_agrees_with_sampling() {
        let corner = |row, col| Touch::new(row, col).unwrap();
        let bounds = PixelBox::spanned_by(corner(40, 30), corner(120, 190));
        for allowed in [PixelBox::SCREEN, PixelBox::rows(0, 111)] {
            let mut random = RunSeed(5).stream(StreamName::new("test"), 0);
            let mut uniform = || corner(random.below(224) as usize, random.below(224) as usize);
            let n_draws = 400_000;
            let mut total = 0.0;
            for _ in 0..n_draws {
                let (first, second) = (uniform(), uniform());
                if allowed.contains(second) {
                    total += f64::from(PixelBox::spanned_by(first, second).iou(bounds));
                }
            }
            let exact = mean_iou_of_uniform_touches(bounds, allowed);
            // The standard error of the sample is about 0.0003.
            assert!((total / f64::from(n_draws) - exact).abs() < 0.0015, "{exact}");
        }
    }

    #[test]
    fn the_mean_iou_of_a_full_screen_object_is_known() {
        let exact = mean_iou_of_uniform_touches(PixelBox::SCREEN, PixelBox::SCREEN);
        // E|a - b| + 1 over 224 rows is (224^2 - 1) / (3 * 224) + 1; the IoU is the product of both sides' shares.
        let side = ((224.0 * 224.0 - 1.0) / (3.0 * 224.0) + 1.0) / 224.0;
        assert!((exact - side * side).abs() < 1e-6, "{exact}");
    }

    #[test]
    fn evenly_spread_takes_all_or_an_even_selection() {
        assert_eq!(evenly_spread(&[1, 2, 3], 9), [1, 2, 3]);
        assert_eq!(evenly_spread(&[0, 1, 2, 3, 4, 5], 3), [0, 2, 4]);
    }
}
