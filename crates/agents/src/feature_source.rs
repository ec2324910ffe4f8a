//! The interface through which agents get the features of screens.

use std::sync::Arc;
use touchstream_env::trial::ScreenRecipe;
use touchstream_modules::Skill;
use touchstream_modules::composite::{Controller, FrozenVisual};
use touchstream_modules::module::{MapShape, Module};

/// The features of all screens that a stream can show.
pub trait FeatureSource {
    /// The sizes of the features.
    fn shape(&self) -> SceneShape;
    /// The index of a screen; `None` if the source does not have it.
    fn index_of(&self, screen: &ScreenRecipe) -> Option<u32>;
    /// All scene vectors, `[n_screens, scene_len]`.
    fn scenes(&self) -> &[f32];
    /// A scene vector, `[scene_len]`.
    fn scene(&self, index: u32) -> &[f32] {
        let len = self.shape().scene_len;
        &self.scenes()[index as usize * len..][..len]
    }
    /// Copies a spatial map, `[n_places, n_channels]`. Called only if the shape has one.
    fn copy_map(&self, index: u32, out: &mut [f32]);
    fn n_screens(&self) -> usize;
}

/// The sizes of a screen's features.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SceneShape {
    /// Length of the scene vector.
    pub scene_len: usize,
    /// `None` without spatial maps.
    pub map: Option<MapShape>,
}

impl SceneShape {
    /// Scene vectors only.
    pub fn without_maps(scene_len: usize) -> Self {
        Self { scene_len, map: None }
    }
}

/// The stream shows a screen that the source does not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "features of the screen {screen:?} are missing: they were computed for other tasks, placements or images"
)]
pub struct MissingFeatures {
    pub screen: ScreenRecipe,
}

/// A skill with the visual features of all screens computed for its frozen modules, if it has any.
pub fn skill_on(scenes: &dyn FeatureSource, module: Module, controller: Option<Controller>) -> Skill {
    let Some(controller) = controller else { return Skill::alone(module) };
    let screens = (0..scenes.n_screens() as u32).map(|screen| scenes.scene(screen));
    let frozen = Arc::new(FrozenVisual::new(controller.old(), screens));
    Skill::composed(module, controller, frozen)
}
