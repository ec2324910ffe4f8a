//! What is on a screen, and drawing it.

use crate::screen::Screen;
use crate::stimuli::{Picture, Split, Stimuli, StimulusError};
use crate::trial::bound::{BoundTask, Rule};
use crate::trial::drawn::{Placements, Trial, TrialState};
use serde::Serialize;

/// Raised whenever the same templates at the same places become other pixels: the grey behind them, how they are
/// put onto it. What a template itself looks like is its source's, and in the source's content hash.
pub const SCREEN_DRAWING_VERSION: u32 = 1;

/// Everything that decides a screen's pixels, given the source: equal recipes are equal screens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScreenRecipe {
    /// One picture over the whole screen.
    Whole {
        /// Which images.
        split: Split,
        /// Which of them.
        picture: Picture,
    },
    /// Templates on grey, later ones over earlier ones.
    Templates {
        /// Which images.
        split: Split,
        /// Height and width of a template.
        side_px: u16,
        /// Which, and where.
        placements: Placements,
    },
}

impl BoundTask {
    /// What the present screen of a trial shows.
    pub fn recipe(&self, trial: &Trial, state: TrialState) -> ScreenRecipe {
        let split = self.split;
        let picture = match (*trial, state.first_touch) {
            (Trial::StimulusResponse { portrait, .. }, _) => portrait,
            (Trial::Localization { object, .. }, _) => object,
            (Trial::Templates { sample, .. } | Trial::Scene { sample, .. }, None) => sample,
            (Trial::Scene { scene, .. }, Some(_)) => Picture::Scene { index: scene },
            (Trial::Templates { placements, .. }, Some(_)) => {
                let side_px = match &self.rule {
                    Rule::Templates { layout, .. } => layout.side_px as u16,
                    _ => unreachable!("a trial is played by the task that drew it"),
                };
                return ScreenRecipe::Templates { split, side_px, placements };
            }
        };
        ScreenRecipe::Whole { split, picture }
    }

    /// Draws the present screen of a trial.
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
            Self::Whole { split, picture } => stimuli.draw(*split, *picture, screen),
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
