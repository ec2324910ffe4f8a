//! The random draw of a trial, from its own random stream.

use crate::seed::RandomStream;
use crate::stimuli::{ClassIdx, Picture};
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
            Rule::Templates { layout, .. } => {
                let class = random.below(n_classes as u32) as usize;
                let sample = self.draw_portrait(class, random);
                let rewarded_class = self.task.rewarded_class(class, n_classes);
                let (placements, rewarded_slot) =
                    draw_placements(layout, &self.classes, class, rewarded_class, random);
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
                Trial::Localization { object: Picture::Object { index }, bounds }
            }
        }
    }

    fn draw_portrait(&self, class: usize, random: &mut RandomStream) -> Picture {
        let class = self.classes[class];
        let n_portraits = self.stimuli.n_portraits(self.split, class) as u32;
        Picture::Portrait { class, index: random.below(n_portraits) }
    }

    /// One of the scenes, but not the one that the sample was cut out of if there is another: the same pixels
    /// must not be found again.
    fn draw_scene(&self, scenes: &[u32], sample: Picture, random: &mut RandomStream) -> u32 {
        let origin = match sample {
            Picture::Portrait { class, index } => self.stimuli.portrait_scene(self.split, class, index),
            Picture::Object { .. } | Picture::Scene { .. } => None,
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

/// Which class stands in which slot, and where; and the slot of the rewarded class.
fn draw_placements(
    layout: &TemplateLayout,
    classes: &[ClassIdx],
    sample_class: usize,
    rewarded_class: usize,
    random: &mut RandomStream,
) -> (Placements, u8) {
    let n_slots = layout.slots.len();
    let mut shown = [0_u16; MAX_SLOTS];
    let shown = &mut shown[..n_slots];
    match layout.order {
        SlotOrder::Fixed => (0..).zip(shown.iter_mut()).for_each(|(class, slot)| *slot = class),
        SlotOrder::Shuffled => {
            // The rewarded class must be there, and so must the sample's; the rest is drawn.
            let mut n_chosen = 0;
            let mut show = |class: usize, n_chosen: &mut usize| {
                if *n_chosen < n_slots && !shown[..*n_chosen].contains(&(class as u16)) {
                    shown[*n_chosen] = class as u16;
                    *n_chosen += 1;
                }
            };
            show(rewarded_class, &mut n_chosen);
            show(sample_class, &mut n_chosen);
            while n_chosen < n_slots {
                show(random.below(classes.len() as u32) as usize, &mut n_chosen);
            }
            random.shuffle(shown);
        }
    }
    let mut place = |extent: Extent| {
        let px = if extent.min == extent.max { extent.min } else { random.between(extent.min, extent.max) };
        px as u8
    };
    let placements = Placements::new(layout.slots.iter().zip(shown.iter()).map(|(slot, &class)| Placement {
        class: classes[usize::from(class)],
        top: place(slot.top),
        left: place(slot.left),
    }));
    let rewarded_slot = shown.iter().position(|&class| usize::from(class) == rewarded_class).unwrap_or(0);
    (placements, rewarded_slot as u8)
}
