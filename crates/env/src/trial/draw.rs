//! The random draw of a trial, from its own random stream.

use crate::seed::RandomStream;
use crate::stimuli::{ClassIdx, ImageId};
use crate::task::MAX_SLOTS;
use crate::task::{Extent, SlotOrder, TemplateLayout};
use crate::trial::bound::{BoundTask, Rule};
use crate::trial::drawn::{Placement, Placements, Trial};

impl BoundTask {
    /// Draws a trial. The same random stream gives the same trial.
    pub fn draw_trial(&self, random: &mut RandomStream) -> Trial {
        let n_classes = self.classes.len();
        match &self.rule {
            Rule::Regions { .. } => {
                let class = random.below(n_classes as u32) as usize;
                Trial::StimulusResponse {
                    portrait: self.draw_portrait(class, random),
                    rewarded_class: self.task.rewarded_class(class, n_classes) as u16,
                }
            }
            Rule::Templates { layout, pool, .. } => {
                let class = random.below(n_classes as u32) as usize;
                let sample = self.draw_portrait(class, random);
                let (placements, rewarded_slot) = match pool {
                    Some(pool) => {
                        let entry = *random.pick(pool.entries(class));
                        (pool.screen(entry), entry.rewarded_slot)
                    }
                    None => self.draw_placements(layout, class, random),
                };
                Trial::Templates { sample, placements, rewarded_slot }
            }
            Rule::Scenes { scenes_of_class } => {
                let class = random.below(n_classes as u32) as usize;
                let sample = self.draw_portrait(class, random);
                let scene = self.draw_scene(&scenes_of_class[class], sample, random);
                Trial::Scene { sample, class: self.classes[class], scene }
            }
            Rule::Boxes { objects } => {
                let index = *random.pick(objects);
                let bounds = self.stimuli.object(self.split, index).bounds;
                Trial::Localization { object: ImageId::Object { index }, bounds }
            }
        }
    }

    /// A match screen for a sample class, and the slot of the rewarded class.
    fn draw_placements(
        &self,
        layout: &TemplateLayout,
        sample_class: usize,
        random: &mut RandomStream,
    ) -> (Placements, u8) {
        let n_classes = self.classes.len();
        let rewarded_class = self.task.rewarded_class(sample_class, n_classes);
        let shown = choose_shown(layout, n_classes, sample_class, rewarded_class, random);
        let (placements, mut shown) = arrange(layout, &self.classes, shown, random);
        let is_rewarded = |&class: &u16| usize::from(class) == rewarded_class;
        let rewarded_slot = shown.as_mut_slice().iter().position(is_rewarded).unwrap_or(0);
        (placements, rewarded_slot as u8)
    }

    fn draw_portrait(&self, class: usize, random: &mut RandomStream) -> ImageId {
        let class = self.classes[class];
        let n_portraits = self.stimuli.n_portraits(self.split, class) as u32;
        ImageId::Portrait { class, index: random.below(n_portraits) }
    }

    /// One of the scenes, but not the one that the sample was cropped from if there is another: finding the same pixels
    /// must not solve the task.
    fn draw_scene(&self, scenes: &[u32], sample: ImageId, random: &mut RandomStream) -> u32 {
        let origin = match sample {
            ImageId::Portrait { class, index } => self.stimuli.portrait_scene(self.split, class, index),
            ImageId::Object { .. } | ImageId::Scene { .. } => None,
        };
        match origin.and_then(|origin| scenes.binary_search(&origin).ok()) {
            Some(at) if scenes.len() > 1 => {
                let drawn = random.below(scenes.len() as u32 - 1) as usize;
                scenes[drawn + usize::from(drawn >= at)]
            }
            _ => *random.pick(scenes),
        }
    }
}

/// The classes on a match screen, as indices among the task's; not yet shuffled.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Shown {
    classes: [u16; MAX_SLOTS],
    n_shown: usize,
}

impl Shown {
    pub fn as_mut_slice(&mut self) -> &mut [u16] {
        &mut self.classes[..self.n_shown]
    }

    fn show(&mut self, class: usize, n_slots: usize) {
        if self.n_shown < n_slots && !self.as_mut_slice().contains(&(class as u16)) {
            self.classes[self.n_shown] = class as u16;
            self.n_shown += 1;
        }
    }
}

/// Chooses the classes that are shown: the rewarded class, the sample's class, and others drawn uniformly.
pub(super) fn choose_shown(
    layout: &TemplateLayout,
    n_classes: usize,
    sample_class: usize,
    rewarded_class: usize,
    random: &mut RandomStream,
) -> Shown {
    let n_slots = layout.slots.len();
    let mut shown = Shown { classes: [0; MAX_SLOTS], n_shown: 0 };
    match layout.order {
        SlotOrder::Fixed => (0..n_slots).for_each(|class| shown.show(class, n_slots)),
        SlotOrder::Shuffled => {
            shown.show(rewarded_class, n_slots);
            shown.show(sample_class, n_slots);
            while shown.n_shown < n_slots {
                shown.show(random.below(n_classes as u32) as usize, n_slots);
            }
        }
    }
    shown
}

/// Draws the slot and position of each shown class. Also returns the classes in the order of their slots.
pub(super) fn arrange(
    layout: &TemplateLayout,
    classes: &[ClassIdx],
    mut shown: Shown,
    random: &mut RandomStream,
) -> (Placements, Shown) {
    if layout.order == SlotOrder::Shuffled {
        random.shuffle(shown.as_mut_slice());
    }
    let mut place = |extent: Extent| {
        let px = if extent.min == extent.max { extent.min } else { random.between(extent.min, extent.max) };
        px as u8
    };
    let shown_classes = shown.as_mut_slice();
    let placements = Placements::new(layout.slots.iter().zip(shown_classes.iter()).map(|(slot, &class)| {
        Placement { class: classes[usize::from(class)], top: place(slot.top), left: place(slot.left) }
    }));
    (placements, shown)
}
