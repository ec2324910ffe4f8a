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
        let transform = self.task.touch_transform();
        match (trial, &self.rule, state.first_touch) {
            (Trial::StimulusResponse { rewarded_class, .. }, Rule::Regions { class_maps }, _) => {
                class_maps[usize::from(*rewarded_class)][touch.index()]
            }
            // Sample screens and the first corner earn nothing by themselves.
            (_, _, None) => 0.0,
            (Trial::Templates { placements, rewarded_slot, .. }, Rule::Templates { button, .. }, Some(_)) => {
                let touch = transform.undo(touch);
                let placement = placements.as_slice()[usize::from(*rewarded_slot)];
                f32::from(u8::from(is_on_button(button, placement, touch) && transform.allows(touch)))
            }
            (Trial::Scene { class, scene, .. }, _, Some(_)) => {
                let touch = transform.undo(touch);
                let instances = self.stimuli.instances(self.split, *scene);
                let is_hit = transform.allows(touch)
                    && instances
                        .iter()
                        .any(|instance| instance.class == *class && instance.mask.contains(touch));
                f32::from(u8::from(is_hit))
            }
            (Trial::Localization { bounds, .. }, _, Some(first)) => {
                let touch = transform.undo(touch);
                if transform.allows(touch) {
                    PixelBox::spanned_by(transform.undo(first), touch).iou(*bounds)
                } else {
                    0.0
                }
            }
            (Trial::StimulusResponse { .. } | Trial::Templates { .. }, _, _) => {
                unreachable!("a trial is played by the task that drew it")
            }
        }
    }

    /// The rewards of several touches, `[n_touches]`.
    pub fn rewards(
        &self,
        trial: &Trial,
        state: TrialState,
        touches: impl Iterator<Item = Touch>,
        out: &mut [f32],
    ) {
        match (trial, &self.rule, state.first_touch) {
            (Trial::StimulusResponse { rewarded_class, .. }, Rule::Regions { class_maps }, _) => {
                let map = &class_maps[usize::from(*rewarded_class)];
                out.iter_mut().zip(touches).for_each(|(out, touch)| *out = map[touch.index()]);
            }
            (_, _, None) => out.fill(0.0),
            _ => out.iter_mut().zip(touches).for_each(|(out, touch)| *out = self.reward(trial, state, touch)),
        }
    }

    /// Whether a touch of a match screen lands on any object of a scene, or on any template's button, whatever its
    /// class; `None` on other screens. The touch is transformed as for rewards.
    pub fn is_on_object(&self, trial: &Trial, state: TrialState, touch: Touch) -> Option<bool> {
        state.first_touch?;
        let touch = self.task.touch_transform().undo(touch);
        match (trial, &self.rule) {
            (Trial::Scene { scene, .. }, _) => {
                let instances = self.stimuli.instances(self.split, *scene);
                Some(instances.iter().any(|instance| instance.mask.contains(touch)))
            }
            (Trial::Templates { placements, .. }, Rule::Templates { button, .. }) => {
                let mut shown = placements.as_slice().iter();
                Some(shown.any(|&placement| is_on_button(button, placement, touch)))
            }
            _ => None,
        }
    }

    /// The value of each touch: its reward or, before the first touch of localization, the highest IoU that a second
    /// touch can still reach.
    pub fn reward_map(&self, trial: &Trial, state: TrialState, map: &mut RewardMap) {
        match (trial, state.first_touch) {
            (Trial::Localization { bounds, .. }, None) => {
                let transform = self.task.touch_transform();
                match transform.rewarded() {
                    Some(allowed) => {
                        let second = BestSecondTouch { bounds: *bounds, allowed };
                        map.fill_with(|touch| second.after(transform.undo(touch)).1);
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

    /// Rewards the pixels of a mask that is shifted by `offset` touch indices, after the task's transformations.
    fn paint(&self, mask: &Mask, offset: usize, map: &mut RewardMap) {
        let transform = self.task.touch_transform();
        mask.for_each_run(|run| {
            for index in run {
                let touch = Touch::at_index(index + offset);
                if transform.allows(touch) {
                    map.values_mut()[transform.apply(touch).index()] = 1.0;
                }
            }
        });
    }
}

fn is_on_button(button: &Mask, placement: Placement, touch: Touch) -> bool {
    let (top, left) = (usize::from(placement.top), usize::from(placement.left));
    touch.row() >= top
        && touch.col() >= left
        && button.contains(Touch::at((touch.row() - top) as u8, (touch.col() - left) as u8))
}
