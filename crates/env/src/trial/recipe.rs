//! The content of a screen, and drawing it.

use crate::screen::Screen;
use crate::stimuli::{ImageId, Split, Stimuli, StimulusError};
use crate::trial::bound::{BoundTask, Rule};
use crate::trial::drawn::{Placements, Trial, TrialState};

/// Must be raised whenever the same templates at the same positions give other pixels, for instance another background
/// grey. The pixels of a template itself are covered by its source's content hash.
pub const SCREEN_DRAWING_VERSION: u32 = 1;

/// Everything that determines a screen's pixels, given the source: equal recipes give equal pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ScreenRecipe {
    /// One image on the whole screen.
    Whole { split: Split, image: ImageId },
    /// Templates on grey, later ones above earlier ones.
    Templates {
        split: Split,
        /// Height and width of a template in pixels.
        side_px: u16,
        placements: Placements,
    },
}

impl BoundTask {
    /// Identifies the current screen of a trial.
    pub fn recipe(&self, trial: &Trial, state: TrialState) -> ScreenRecipe {
        let split = self.split;
        let image = match (*trial, state.first_touch) {
            (Trial::StimulusResponse { portrait, .. }, _) => portrait,
            (Trial::Localization { object, .. }, _) => object,
            (Trial::Templates { sample, .. } | Trial::Scene { sample, .. }, None) => sample,
            (Trial::Scene { scene, .. }, Some(_)) => ImageId::Scene { index: scene },
            (Trial::Templates { placements, .. }, Some(_)) => {
                let side_px = match &self.rule {
                    Rule::Templates { layout, .. } => layout.side_px as u16,
                    _ => unreachable!("a trial is played by the task that drew it"),
                };
                return ScreenRecipe::Templates { split, side_px, placements };
            }
        };
        ScreenRecipe::Whole { split, image }
    }

    /// Draws the current screen of a trial.
    pub fn draw(&self, trial: &Trial, state: TrialState, screen: &mut Screen) -> Result<(), StimulusError> {
        match (self.recipe(trial, state), &self.rule) {
            (ScreenRecipe::Templates { placements, .. }, Rule::Templates { templates, .. }) => {
                screen.clear();
                for placement in placements.as_slice() {
                    if let Some(template) = &templates[placement.class.get()] {
                        screen.paste(template, placement.top.into(), placement.left.into());
                    }
                }
                Ok(())
            }
            (recipe, _) => recipe.draw(self.stimuli.as_ref(), screen),
        }
    }
}

impl ScreenRecipe {
    /// Draws the screen from its source, without a task.
    pub fn draw(&self, stimuli: &dyn Stimuli, screen: &mut Screen) -> Result<(), StimulusError> {
        match self {
            Self::Whole { split, image } => stimuli.draw(*split, *image, screen),
            Self::Templates { split, side_px, placements } => {
                screen.clear();
                for placement in placements.as_slice() {
                    let template = stimuli.template(*split, placement.class, usize::from(*side_px))?;
                    screen.paste(&template, placement.top.into(), placement.left.into());
                }
                Ok(())
            }
        }
    }
}
