//! The chance level and the best reward of tasks that depend on geometry only, by counting pixels.

use crate::pixel_box::PixelBox;
use crate::task::checked::Task;
use crate::task::definition::{MatchScreen, Paradigm, Region, Slot, TemplateLayout};
use crate::touch::{N_TOUCHES, Touch};

/// Expected rewards per trial, computed exactly rather than sampled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExactRewards {
    /// Expected reward per trial of uniform touches.
    pub chance: f64,
    /// Expected reward per trial of perfect touches.
    pub best: f64,
    /// The probability that a uniform touch of a match screen is on any object; `None` for tasks without scenes.
    pub chance_on_object: Option<f64>,
    pub basis: Basis,
}

/// What exact rewards were computed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// All trials; the rewards do not depend on the images.
    Geometry,
    /// `n_counted` screens of the split, evenly spaced, out of `n_all`.
    Screens { n_counted: usize, n_all: usize },
}

impl Basis {
    /// The number of screens computed and of all screens, where the rewards depend on the images.
    pub fn screens(self) -> Option<(usize, usize)> {
        match self {
            Self::Geometry => None,
            Self::Screens { n_counted, n_all } => Some((n_counted, n_all)),
        }
    }
}

impl Task {
    /// Chance and best of a task whose rewards do not depend on the images; `None` for other tasks.
    pub fn geometric_rewards(&self) -> Option<ExactRewards> {
        let (chance, best) = match self.paradigm() {
            Paradigm::StimulusResponse { regions } => self.regions_rewards(regions),
            Paradigm::MatchToSample(MatchScreen::Templates(layout)) => self.template_rewards(layout),
            Paradigm::MatchToSample(MatchScreen::Scene) | Paradigm::Localization => return None,
        };
        Some(ExactRewards { chance, best, chance_on_object: None, basis: Basis::Geometry })
    }

    /// The reward map of each class of a stimulus-response task, `[n_classes][224 * 224]`.
    pub(crate) fn class_maps(&self, regions: &[Region]) -> Vec<Box<[f32]>> {
        let n_classes = self.n_classes().unwrap_or(0);
        let mut class_maps = vec![vec![0.0_f32; N_TOUCHES].into_boxed_slice(); n_classes];
        let transform = self.touch_transform();
        for region in regions {
            let (mask, map) = (region.shape.mask(), &mut class_maps[region.class]);
            for touch in Touch::all() {
                let plain = transform.undo(touch);
                if transform.allows(plain) && mask.contains(plain) {
                    let value = &mut map[touch.index()];
                    *value = value.max(region.reward);
                }
            }
        }
        class_maps
    }

    fn regions_rewards(&self, regions: &[Region]) -> (f64, f64) {
        let maps = self.class_maps(regions);
        let n_classes = maps.len() as f64;
        let mean = |map: &[f32]| map.iter().map(|&reward| f64::from(reward)).sum::<f64>() / N_TOUCHES as f64;
        let best = |map: &[f32]| f64::from(map.iter().copied().fold(0.0, f32::max));
        (
            maps.iter().map(|map| mean(map)).sum::<f64>() / n_classes,
            maps.iter().map(|map| best(map)).sum::<f64>() / n_classes,
        )
    }

    /// Every slot is rewarded equally often, fixed or shuffled, so slots have equal weights.
    fn template_rewards(&self, layout: &TemplateLayout) -> (f64, f64) {
        let Some(allowed) = self.touch_transform().rewarded() else { return (0.0, 0.0) };
        let button = ButtonCounts::new(layout);
        let (mut chance, mut best) = (0.0, 0.0);
        for slot in &layout.slots {
            let (n_pixels, n_reachable) = button.counts_over(slot, allowed);
            let n_places = (slot.top.n_values() * slot.left.n_values()) as f64;
            chance += n_pixels as f64 / N_TOUCHES as f64 / n_places;
            best += n_reachable as f64 / n_places;
        }
        let n_slots = layout.slots.len() as f64;
        (chance / n_slots, best / n_slots)
    }
}

/// Counts the pixels of a button inside any box, by prefix sums.
struct ButtonCounts {
    side_px: usize,
    /// `[side + 1, side + 1]`: button pixels above and left of each corner.
    n_before: Vec<u64>,
}

impl ButtonCounts {
    fn new(layout: &TemplateLayout) -> Self {
        let side_px = layout.side_px;
        let button = layout.button_mask();
        let stride = side_px + 1;
        let mut n_before = vec![0; stride * stride];
        for row in 0..side_px {
            for col in 0..side_px {
                n_before[(row + 1) * stride + col + 1] = n_before[row * stride + col + 1]
                    + n_before[(row + 1) * stride + col]
                    - n_before[row * stride + col]
                    + u64::from(button.contains(Touch::at(row as u8, col as u8)));
            }
        }
        Self { side_px, n_before }
    }

    /// Over all positions in a slot: the total number of rewarded pixels, and the number of positions with any.
    fn counts_over(&self, slot: &Slot, allowed: PixelBox) -> (u64, u64) {
        let (mut n_pixels, mut n_reachable) = (0, 0);
        for top in slot.top.min..=slot.top.max {
            for left in slot.left.min..=slot.left.max {
                let n = self.n_in(
                    self.clip(allowed.top(), allowed.bottom(), top as usize),
                    self.clip(allowed.left(), allowed.right(), left as usize),
                );
                n_pixels += n;
                n_reachable += u64::from(n > 0);
            }
        }
        (n_pixels, n_reachable)
    }

    /// The part of `first..=last` that a template at `start` covers, relative to the template.
    fn clip(&self, first: usize, last: usize, start: usize) -> (usize, usize) {
        let from = first.saturating_sub(start).min(self.side_px);
        (from, (last + 1).saturating_sub(start).clamp(from, self.side_px))
    }

    fn n_in(&self, (top, bottom): (usize, usize), (left, right): (usize, usize)) -> u64 {
        let at = |row: usize, col: usize| self.n_before[row * (self.side_px + 1) + col];
        at(bottom, right) + at(top, left) - at(top, right) - at(bottom, left)
    }
}
