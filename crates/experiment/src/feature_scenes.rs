//! Cached features in the form that agents read.

use crate::inputs::scene_shape;
use touchstream_agents::{FeatureSource, SceneShape};
use touchstream_env::trial::ScreenRecipe;
use touchstream_features::FeatureSet;

pub struct FeatureScenes(pub FeatureSet);

impl FeatureSource for FeatureScenes {
    fn shape(&self) -> SceneShape {
        scene_shape(self.0.shape(), self.0.has_maps())
    }
    fn index_of(&self, screen: &ScreenRecipe) -> Option<u32> {
        self.0.index_of(screen)
    }
    fn scenes(&self) -> &[f32] {
        self.0.scenes()
    }
    fn copy_map(&self, index: u32, out: &mut [f32]) {
        self.0.copy_map(index, out);
    }
    fn n_screens(&self) -> usize {
        self.0.n_screens()
    }
}
