//! Lists every screen that a task can show, so that all of them can be encoded in advance.

use crate::stimuli::ImageId;
use crate::trial::bound::{BoundTask, Rule};
use crate::trial::match_pool::MatchScreens;
use crate::trial::recipe::ScreenRecipe;

/// Maximum number of match screens that are listed if templates are placed freely.
pub const MAX_FREE_SCREENS: usize = 10_000;

impl BoundTask {
    /// Every screen that a trial can show, sorted, without duplicates; `None` if templates are placed freely and the
    /// task has more than [`MAX_FREE_SCREENS`] match screens.
    pub fn screens(&self) -> Option<Vec<ScreenRecipe>> {
        let mut screens: Vec<ScreenRecipe> = self.images().map(|image| self.whole(image)).collect();
        if let Rule::Templates { layout, pool, .. } = &self.rule {
            let of = MatchScreens { task: &self.task, layout, classes: &self.classes };
            let all;
            let match_screens = match pool {
                Some(pool) => pool.screens(),
                None => {
                    all = of.all(MAX_FREE_SCREENS)?;
                    &all
                }
            };
            let (split, side_px) = (self.split, layout.side_px as u16);
            let recipe = |&placements| ScreenRecipe::Templates { split, side_px, placements };
            screens.extend(match_screens.iter().map(recipe));
        }
        screens.sort_unstable();
        screens.dedup();
        Some(screens)
    }

    fn whole(&self, image: ImageId) -> ScreenRecipe {
        ScreenRecipe::Whole { split: self.split, image }
    }

    /// The images that fill a whole screen.
    fn images(&self) -> Box<dyn Iterator<Item = ImageId> + '_> {
        let portraits = self.classes.iter().flat_map(|&class| {
            let n_portraits = self.stimuli.n_portraits(self.split, class) as u32;
            (0..n_portraits).map(move |index| ImageId::Portrait { class, index })
        });
        match &self.rule {
            Rule::Regions { .. } | Rule::Templates { .. } => Box::new(portraits),
            Rule::Scenes { scenes_of_class } => {
                let scenes = scenes_of_class.iter().flatten().map(|&index| ImageId::Scene { index });
                Box::new(portraits.chain(scenes))
            }
            Rule::Boxes { objects } => Box::new(objects.iter().map(|&index| ImageId::Object { index })),
        }
    }
}
