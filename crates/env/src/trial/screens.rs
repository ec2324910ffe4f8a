//! Every screen that a task can show, for whoever wants to look at all of them beforehand.

use crate::stimuli::Picture;
use crate::trial::bound::{BoundTask, Rule};
use crate::trial::match_pool::MatchScreens;
use crate::trial::recipe::ScreenRecipe;

/// The most match screens that are listed for a task whose placements are free.
pub const MAX_FREE_SCREENS: usize = 10_000;

impl BoundTask {
    /// Every screen that a trial can show, in order and each once; `None` if placements are free and the task has
    /// more than [`MAX_FREE_SCREENS`] match screens.
    pub fn screens(&self) -> Option<Vec<ScreenRecipe>> {
        let mut screens: Vec<ScreenRecipe> = self.pictures().map(|picture| self.whole(picture)).collect();
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

    fn whole(&self, picture: Picture) -> ScreenRecipe {
        ScreenRecipe::Whole { split: self.split, picture }
    }

    /// The pictures that fill a screen.
    fn pictures(&self) -> Box<dyn Iterator<Item = Picture> + '_> {
        let portraits = self.classes.iter().flat_map(|&class| {
            let n_portraits = self.stimuli.n_portraits(self.split, class) as u32;
            (0..n_portraits).map(move |index| Picture::Portrait { class, index })
        });
        match &self.rule {
            Rule::Regions { .. } | Rule::Templates { .. } => Box::new(portraits),
            Rule::Scenes { scenes_of_class } => {
                let scenes = scenes_of_class.iter().flatten().map(|&index| Picture::Scene { index });
                Box::new(portraits.chain(scenes))
            }
            Rule::Boxes { objects } => Box::new(objects.iter().map(|&index| Picture::Object { index })),
        }
    }
}
