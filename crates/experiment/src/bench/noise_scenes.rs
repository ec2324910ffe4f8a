//! Random scene vectors and maps for benchmarks.

use crate::error::{Result, bail};
use std::collections::HashMap;
use touchstream_agents::{FeatureSource, SceneShape};
use touchstream_env::seed::{RunSeed, StreamName};
use touchstream_env::stream::Stream;
use touchstream_env::trial::ScreenRecipe;
use touchstream_modules::module::MapShape;

const SCENES: StreamName = StreamName::new("bench/scenes");

/// The shape of VGG-16's spatial map.
const MAP: MapShape = MapShape { n_places: 196, n_channels: 512 };
/// Screens share maps.
const N_MAPS: usize = 64;

/// A random scene vector for every screen: the time of learning does not depend on the values.
pub struct NoiseScenes {
    index: HashMap<ScreenRecipe, u32>,
    vectors: Vec<f32>,
    scene_len: usize,
    maps: Vec<f32>,
}

impl NoiseScenes {
    pub fn of(stream: &Stream, scene_len: usize) -> Result<Self> {
        let Some(screens) = stream.bound_task().screens() else {
            bail!(Settings, "the task has too many screens")
        };
        let mut random = RunSeed(0).stream(SCENES, 0);
        let size = 3.5 / (scene_len as f32).sqrt();
        let vectors = (0..screens.len() * scene_len).map(|_| random.in_range(-size, size)).collect();
        let (map_len, size) = (MAP.n_places * MAP.n_channels, 3.5 / (MAP.n_channels as f32).sqrt());
        let maps = (0..N_MAPS * map_len).map(|_| random.in_range(-size, size)).collect();
        Ok(Self { index: screens.into_iter().zip(0..).collect(), vectors, scene_len, maps })
    }
}

impl FeatureSource for NoiseScenes {
    fn shape(&self) -> SceneShape {
        SceneShape { scene_len: self.scene_len, map: Some(MAP) }
    }
    fn copy_map(&self, index: u32, out: &mut [f32]) {
        out.copy_from_slice(&self.maps[index as usize % N_MAPS * out.len()..][..out.len()]);
    }
    fn index_of(&self, screen: &ScreenRecipe) -> Option<u32> {
        self.index.get(screen).copied()
    }
    fn scenes(&self) -> &[f32] {
        &self.vectors
    }
    fn n_screens(&self) -> usize {
        self.index.len()
    }
}
