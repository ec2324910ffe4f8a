//! Plain coloured screens, seen as 8 x 8 means of their pixels: enough to learn from, quick to make.

use std::collections::HashMap;
use std::sync::Arc;
use touchstream_agents::{FeatureSource, SceneShape};
use touchstream_env::plain_stimuli::PlainStimuli;
use touchstream_env::schedule::Schedule;
use touchstream_env::screen::Screen;
use touchstream_env::seed::RunSeed;
use touchstream_env::stimuli::Split;
use touchstream_env::stream::Stream;
use touchstream_env::task::find_task;
use touchstream_env::trial::{BoundTask, PlacementChoice, PlacementPool, ScreenRecipe};
use touchstream_modules::module::MapShape;

const SIDE: usize = 8;
const LEN: usize = SIDE * SIDE * 3;

pub struct PixelScenes {
    index: HashMap<ScreenRecipe, u32>,
    numbers: Vec<f32>,
}

impl PixelScenes {
    fn of(tasks: &[&BoundTask]) -> Self {
        let mut scenes = Self { index: HashMap::new(), numbers: Vec::new() };
        for task in tasks {
            for recipe in task.screens().unwrap() {
                if scenes.index.contains_key(&recipe) {
                    continue;
                }
                scenes.index.insert(recipe, scenes.index.len() as u32);
                let mut screen = Screen::grey();
                recipe.draw(task.stimuli().as_ref(), &mut screen).unwrap();
                scenes.numbers.extend(means(&screen));
            }
        }
        let n = scenes.index.len();
        let mean: Vec<f32> =
            (0..LEN).map(|at| scenes.numbers.iter().skip(at).step_by(LEN).sum::<f32>() / n as f32).collect();
        for scene in scenes.numbers.chunks_mut(LEN) {
            scene.iter_mut().zip(&mean).for_each(|(x, mean)| *x -= mean);
            let norm = scene.iter().map(|x| x * x).sum::<f32>().sqrt().max(1e-6);
            scene.iter_mut().for_each(|x| *x *= 2.0 / norm);
        }
        scenes
    }
}

fn means(screen: &Screen) -> Vec<f32> {
    let mut sums = vec![0.0; LEN];
    for (idx, pixel) in screen.pixels().chunks(3).enumerate() {
        let (row, col) = (idx / 224 / (224 / SIDE), idx % 224 / (224 / SIDE));
        for (channel, &byte) in pixel.iter().enumerate() {
            sums[(row * SIDE + col) * 3 + channel] += f32::from(byte) / 255.0 / 784.0;
        }
    }
    sums
}

impl FeatureSource for PixelScenes {
    fn shape(&self) -> SceneShape {
        SceneShape { scene_len: LEN, map: Some(MapShape { n_places: SIDE * SIDE, n_channels: 3 }) }
    }
    fn copy_map(&self, index: u32, out: &mut [f32]) {
        out.copy_from_slice(self.scene(index));
    }
    fn index_of(&self, screen: &ScreenRecipe) -> Option<u32> {
        self.index.get(screen).copied()
    }
    fn scenes(&self) -> &[f32] {
        &self.numbers
    }
    fn n_screens(&self) -> usize {
        self.index.len()
    }
}

/// Training and validation streams of a task, and the features of their screens.
pub fn world(task: &str, seed: u64) -> (Stream, Stream, PixelScenes) {
    let stimuli = Arc::new(PlainStimuli::new(4));
    let placements = PlacementChoice::Pool(PlacementPool::default());
    let open = |split| {
        let schedule = Schedule::single(find_task(task).unwrap());
        Stream::open_with(schedule, stimuli.clone(), split, RunSeed(seed), placements).unwrap().0
    };
    let (train, validation) = (open(Split::Train), open(Split::Validation));
    let scenes = PixelScenes::of(&[train.bound_task(), validation.bound_task()]);
    (train, validation, scenes)
}
