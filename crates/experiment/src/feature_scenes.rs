//! Features from the cache, as agents read them.

use touchstream_agents::{SceneShape, Scenes};
use touchstream_env::trial::ScreenRecipe;
use touchstream_features::FeatureSet;
use touchstream_modules::module::MapShape;

/// A feature set as the features of an agent.
pub struct FeatureScenes(pub FeatureSet);

impl Scenes for FeatureScenes {
    fn shape(&self) -> SceneShape {
        let shape = self.0.shape();
        let map = self.0.has_maps().then(|| MapShape {
            n_places: shape.map_len() / shape.map_channels,
            n_channels: shape.map_channels,
        });
        SceneShape { scene_len: shape.scene_len, map }
    }
    fn index_of(&self, screen: &ScreenRecipe) -> Option<u32> {
        self.0.index_of(screen)
    }
    fn scene(&self, index: u32) -> &[f32] {
        self.0.scene(index)
    }
    fn copy_map(&self, index: u32, out: &mut [f32]) {
        self.0.copy_map(index, out);
    }
    fn n_screens(&self) -> usize {
        self.0.n_screens()
    }
}
