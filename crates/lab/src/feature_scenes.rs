//! Features from the cache, as agents read them.

use touchstream_agent::Scenes;
use touchstream_env::trial::ScreenRecipe;
use touchstream_features::FeatureSet;

/// A feature set as the scene vectors of an agent.
pub struct FeatureScenes(pub FeatureSet);

impl Scenes for FeatureScenes {
    fn scene_len(&self) -> usize {
        self.0.shape().scene_len
    }
    fn index_of(&self, screen: &ScreenRecipe) -> Option<u32> {
        self.0.index_of(screen)
    }
    fn scene(&self, index: u32) -> &[f32] {
        self.0.scene(index)
    }
    fn n_screens(&self) -> usize {
        self.0.n_screens()
    }
}
