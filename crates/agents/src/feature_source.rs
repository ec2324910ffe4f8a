//! Features of screens, wherever they come from.

use std::sync::Arc;
use touchstream_env::trial::ScreenRecipe;
use touchstream_modules::Skill;
use touchstream_modules::composite::{Controller, FrozenVisual};
use touchstream_modules::module::{MapShape, Module};

/// The features of all screens that a stream can show.
pub trait FeatureSource {
    /// How many numbers a screen has.
    fn shape(&self) -> SceneShape;
    /// The number of a screen; `None` if it is not one of these.
    fn index_of(&self, screen: &ScreenRecipe) -> Option<u32>;
    /// A screen's scene vector, `[scene_len]`.
    fn scene(&self, index: u32) -> &[f32];
    /// Copies a screen's spatial map, `[n_places, n_channels]`, row by row. Asked for where the shape has one.
    fn copy_map(&self, index: u32, out: &mut [f32]);
    /// How many screens there are.
    fn n_screens(&self) -> usize;
}

/// How many numbers the features of a screen have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SceneShape {
    /// Of the scene vector.
    pub scene_len: usize,
    /// Of the spatial map, if there is one.
    pub map: Option<MapShape>,
}

impl SceneShape {
    /// Scene vectors alone.
    pub fn without_maps(scene_len: usize) -> Self {
        Self { scene_len, map: None }
    }
}

/// A stream showed a screen that has no features.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "there are no features of the screen {screen:?}: they were made for other tasks, placements or images"
)]
pub struct MissingFeatures {
    /// Which.
    pub screen: ScreenRecipe,
}

/// A skill on these screens: frozen modules look at each of them once.
pub fn skill_on(scenes: &impl FeatureSource, module: Module, controller: Option<Controller>) -> Skill {
    let Some(controller) = controller else { return Skill::alone(module) };
    let screens = (0..scenes.n_screens() as u32).map(|screen| scenes.scene(screen));
    let frozen = Arc::new(FrozenVisual::new(controller.old(), screens));
    Skill::composed(module, controller, frozen)
}
