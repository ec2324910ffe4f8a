//! What is on a screen, and drawing it.

use crate::screen::Screen;
use crate::stimuli::{ClassIdx, Picture, Split, StimulusError};
use crate::trial::bound::{BoundTask, Rule};
use crate::trial::drawn::{Placement, Placements, Trial, TrialState};

/// Everything that decides a screen's pixels, given the source: equal recipes are equal screens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScreenRecipe {
    /// One picture over the whole screen.
    Whole {
        /// Which images.
        split: Split,
        /// Which of them.
        picture: Picture,
    },
    /// Templates on grey; classes as the source counts them, later ones over earlier ones.
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
                let of_source = |placement: &Placement| Placement {
                    class: self.source_class(placement.class).0,
                    ..*placement
                };
                let placements = Placements::new(placements.as_slice().iter().map(of_source));
                return ScreenRecipe::Templates { split, side_px, placements };
            }
        };
        ScreenRecipe::Whole { split, picture }
    }

    /// Draws the present screen of a trial.
    pub fn draw(&self, trial: &Trial, state: TrialState, screen: &mut Screen) -> Result<(), StimulusError> {
        match (trial, &self.rule, state.first_touch) {
            (Trial::Templates { placements, .. }, Rule::Templates { templates, .. }, Some(_)) => {
                screen.clear();
                for placement in placements.as_slice() {
                    let template = &templates[usize::from(placement.class)];
                    screen.paste(template, placement.top.into(), placement.left.into());
                }
                Ok(())
            }
            _ => match self.recipe(trial, state) {
                ScreenRecipe::Whole { split, picture } => self.stimuli.draw(split, picture, screen),
                ScreenRecipe::Templates { .. } => unreachable!("a trial is played by the task that drew it"),
            },
        }
    }

    fn source_class(&self, position: u16) -> ClassIdx {
        self.classes[usize::from(position)]
    }
}
