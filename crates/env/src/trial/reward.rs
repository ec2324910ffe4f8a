//! The reward of a touch, and the reward of every touch.

use crate::mask::Mask;
use crate::pixel_box::PixelBox;
use crate::reward_map::RewardMap;
use crate::touch::Touch;
use crate::trial::bound::{BoundTask, Rule};
use crate::trial::corner::BestSecondTouch;
use crate::trial::drawn::{Placement, Trial, TrialState};

impl BoundTask {
    /// The reward of a touch, in [0, 1].
    pub fn reward(&self, trial: &Trial, state: TrialState, touch: Touch) -> f32 {
        let reading = self.task.reading();
        match (trial, &self.rule, state.first_touch) {
            (Trial::StimulusResponse { rewarded_class, .. }, Rule::Regions { class_maps }, _) => {
                class_maps[usize::from(*rewarded_class)][touch.index()]
            }
            // Sample screens and the first corner earn nothing by themselves.
            (_, _, None) => 0.0,
            (Trial::Templates { placements, rewarded_slot, .. }, Rule::Templates { button, .. }, Some(_)) => {
                let read = reading.read(touch);
                let placement = placements.as_slice()[usize::from(*rewarded_slot)];
                f32::from(u8::from(is_on_button(button, placement, read) && reading.allows(read)))
            }
            (Trial::Scene { class, scene, .. }, _, Some(_)) => {
                let read = reading.read(touch);
                let instances = self.stimuli.instances(self.split, *scene);
                let is_hit = reading.allows(read)
                    && instances
                        .iter()
                        .any(|instance| instance.class == *class && instance.mask.contains(read));
                f32::from(u8::from(is_hit))
            }
            (Trial::Localization { bounds, .. }, _, Some(first)) => {
                let read = reading.read(touch);
                if reading.allows(read) {
                    PixelBox::spanned_by(reading.read(first), read).iou(*bounds)
                } else {
                    0.0
                }
            }
            (Trial::StimulusResponse { .. } | Trial::Templates { .. }, _, _) => {
                unreachable!("a trial is played by the task that drew it")
            }
        }
    }

    /// Whether a touch of a match screen is read as a pixel of any object of a scene, or of any button, whatever its class and
    /// whether or not it is rewarded; `None` on other screens.
    pub fn is_on_object(&self, trial: &Trial, state: TrialState, touch: Touch) -> Option<bool> {
        state.first_touch?;
        let read = self.task.reading().read(touch);
        match (trial, &self.rule) {
            (Trial::Scene { scene, .. }, _) => {
                let instances = self.stimuli.instances(self.split, *scene);
                Some(instances.iter().any(|instance| instance.mask.contains(read)))
            }
            (Trial::Templates { placements, .. }, Rule::Templates { button, .. }) => {
                let mut shown = placements.as_slice().iter();
                Some(shown.any(|&placement| is_on_button(button, placement, read)))
            }
            _ => None,
        }
    }

    /// What each touch is worth: its reward or, before the first corner of localization, the best overlap that
    /// a second touch can still reach.
    pub fn reward_map(&self, trial: &Trial, state: TrialState, map: &mut RewardMap) {
        match (trial, state.first_touch) {
            (Trial::Localization { bounds, .. }, None) => {
                let reading = self.task.reading();
                match reading.rewarded() {
                    Some(allowed) => {
                        let second = BestSecondTouch { bounds: *bounds, allowed };
                        map.fill_with(|touch| second.after(reading.read(touch)).1);
                    }
                    None => map.values_mut().fill(0.0),
                }
            }
            (Trial::Scene { class, scene, .. }, Some(_)) => {
                map.values_mut().fill(0.0);
                let instances = self.stimuli.instances(self.split, *scene);
                for instance in instances.iter().filter(|instance| instance.class == *class) {
                    self.paint(&instance.mask, 0, map);
                }
            }
            (Trial::Templates { placements, rewarded_slot, .. }, Some(_)) => {
                map.values_mut().fill(0.0);
                if let Rule::Templates { button, .. } = &self.rule {
                    let placement = placements.as_slice()[usize::from(*rewarded_slot)];
                    self.paint(button, Touch::at(placement.top, placement.left).index(), map);
                }
            }
            (Trial::StimulusResponse { rewarded_class, .. }, _) => {
                if let Rule::Regions { class_maps } = &self.rule {
                    map.values_mut().copy_from_slice(&class_maps[usize::from(*rewarded_class)]);
                }
            }
            (Trial::Templates { .. } | Trial::Scene { .. }, None) => map.values_mut().fill(0.0),
            (Trial::Localization { .. }, Some(_)) => {
                map.fill_with(|touch| self.reward(trial, state, touch));
            }
        }
    }

    /// Rewards the touches that are read as pixels of a mask, moved by so many positions of the map.
    fn paint(&self, mask: &Mask, moved_by: usize, map: &mut RewardMap) {
        let reading = self.task.reading();
        mask.for_each_run(|run| {
            for index in run {
                let read = Touch::at_index(index + moved_by);
                if reading.allows(read) {
                    map.values_mut()[reading.touch_read_as(read).index()] = 1.0;
                }
            }
        });
    }
}

fn is_on_button(button: &Mask, placement: Placement, read: Touch) -> bool {
    let (top, left) = (usize::from(placement.top), usize::from(placement.left));
    read.row() >= top
        && read.col() >= left
        && button.contains(Touch::at((read.row() - top) as u8, (read.col() - left) as u8))
}
