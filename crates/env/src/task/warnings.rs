//! Warnings about valid tasks that are probably mistakes: overlapping regions, unreachable rewards.

use crate::mask::Mask;
use crate::task::checked::{Task, shape_field};
use crate::task::definition::{Extent, MatchScreen, Paradigm, Region, TemplateLayout};
use crate::touch::{SCREEN_SIDE_PX, Touch};

/// A probable mistake in a valid task.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{field}`: {message}")]
pub struct TaskWarning {
    /// The field's path in a task file.
    pub field: String,
    pub message: String,
}

impl Task {
    /// All warnings, in the order of the task's fields.
    pub fn warnings(&self) -> Vec<TaskWarning> {
        let mut found = Vec::new();
        match self.paradigm() {
            Paradigm::StimulusResponse { regions } => self.warn_of_regions(regions, &mut found),
            Paradigm::MatchToSample(MatchScreen::Templates(layout)) => warn_of_slots(layout, &mut found),
            Paradigm::MatchToSample(MatchScreen::Scene) | Paradigm::Localization => {}
        }
        if self.touch_transform().rewarded().is_none() {
            found.push(warning("transformations", "combined, they leave no touch that is ever rewarded"));
        }
        found
    }

    fn warn_of_regions(&self, regions: &[Region], found: &mut Vec<TaskWarning>) {
        let masks: Vec<Mask> = regions.iter().map(|region| region.shape.mask()).collect();
        for (idx, region) in regions.iter().enumerate() {
            let field = format!("stimulus-response.regions[{idx}].{}", shape_field(&region.shape));
            if region.shape.leaves_square(SCREEN_SIDE_PX) {
                found.push(warning(
                    &field,
                    "the region extends beyond the screen; only its visible part is rewarded",
                ));
            }
            for (earlier, other) in regions[..idx].iter().enumerate() {
                if other.class == region.class || masks[idx] == masks[earlier] {
                    continue;
                }
                let n_shared = masks[idx].n_shared_px(&masks[earlier]);
                if n_shared > 0 {
                    let message = format!(
                        "overlaps regions[{earlier}] in {n_shared} pixels: touching there is rewarded for class {} and for class {}",
                        other.class, region.class
                    );
                    found.push(warning(&field, message));
                }
            }
        }
        let allowed = self
            .touch_transform()
            .rewarded()
            .map(|rewarded| Mask::from_fn(|row, col| rewarded.contains(Touch::at(row as u8, col as u8))));
        let is_reachable = |class: usize| {
            let mut of_class = regions.iter().zip(&masks).filter(|(region, _)| region.class == class);
            allowed.as_ref().is_some_and(|allowed| of_class.any(|(_, mask)| mask.n_shared_px(allowed) > 0))
        };
        let never: Vec<String> = (0..self.n_classes().unwrap_or(0))
            .filter(|&class| !is_reachable(class))
            .map(|class| class.to_string())
            .collect();
        if !never.is_empty() {
            let message =
                format!("never rewarded, wherever the screen is touched: class {}", never.join(", "));
            found.push(warning("stimulus-response.regions", message));
        }
    }
}

fn warn_of_slots(layout: &TemplateLayout, found: &mut Vec<TaskWarning>) {
    for (idx, slot) in layout.slots.iter().enumerate() {
        for (earlier, other) in layout.slots[..idx].iter().enumerate() {
            let side = layout.side_px as u32;
            if can_meet(slot.top, other.top, side) && can_meet(slot.left, other.left, side) {
                let message = format!("a template in this slot can cover the one in slots[{earlier}]");
                found.push(warning(&format!("match-to-sample.slots[{idx}]"), message));
            }
        }
    }
}

/// Whether two templates with these ranges of positions along one axis can overlap.
fn can_meet(a: Extent, b: Extent, side: u32) -> bool {
    a.min < b.max + side && b.min < a.max + side
}

fn warning(field: &str, message: impl Into<String>) -> TaskWarning {
    TaskWarning { field: field.into(), message: message.into() }
}
