//! An encoder without weights: pixels averaged over blocks. And the tasks that tests look at with it.
#![allow(dead_code)]

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use touchstream_encoder::{EncodeError, Encoder, FeatureShape, Features};
use touchstream_env::plain_stimuli::PlainStimuli;
use touchstream_env::screen::Screen;
use touchstream_env::stimuli::{ContentHash, Split};
use touchstream_env::task::find_task;
use touchstream_env::trial::{BoundTask, PlacementChoice, PlacementPool};
use touchstream_features::{EncodeContext, FeatureSet, FeatureSettings, Wanted};
use touchstream_files::NoProgress;

/// Counts the screens it encodes.
pub struct PixelEncoder {
    pub n_encoded: AtomicUsize,
    pub patience: Duration,
    /// Added to every number.
    pub offset: f32,
    pub batch_size: usize,
}

impl PixelEncoder {
    pub fn new() -> Self {
        Self { n_encoded: AtomicUsize::new(0), patience: Duration::ZERO, offset: 0.0, batch_size: 8 }
    }

    pub fn n_encoded(&self) -> usize {
        self.n_encoded.load(Ordering::SeqCst)
    }

    /// Mean of each channel over blocks of the screen, `[side, side, 3]`.
    fn pooled(&self, screen: &Screen, side: usize, out: &mut [f32]) {
        let block_px = 224 / side;
        let mean = |row: usize, col: usize, channel: usize| {
            let rows = (row * block_px..(row + 1) * block_px).step_by(2);
            let pixel = |y: usize, x: usize| u32::from(screen.pixels()[(y * 224 + x) * 3 + channel]);
            let cols = move || (col * block_px..(col + 1) * block_px).step_by(2);
            let sum: u32 = rows.map(|y| cols().map(|x| pixel(y, x)).sum::<u32>()).sum();
            sum as f32 / 255.0 / (block_px * block_px / 4) as f32
        };
        for (at, out) in out.iter_mut().enumerate() {
            *out = mean(at / 3 / side, at / 3 % side, at % 3) + self.offset;
        }
    }
}

impl Encoder for PixelEncoder {
    fn name(&self) -> &str {
        "pixels"
    }

    fn content_hash(&self) -> ContentHash {
        ContentHash([7; 32])
    }

    fn shape(&self) -> FeatureShape {
        FeatureShape { scene_len: 8 * 8 * 3, map_channels: 3 }
    }

    fn batch_size(&self) -> usize {
        self.batch_size
    }

    fn encode(&self, screens: &[Screen], out: &mut [Features]) -> Result<(), EncodeError> {
        for (screen, out) in screens.iter().zip(out) {
            self.pooled(screen, 8, &mut out.scene);
            self.pooled(screen, 14, &mut out.map);
        }
        std::thread::sleep(self.patience);
        self.n_encoded.fetch_add(screens.len(), Ordering::SeqCst);
        Ok(())
    }
}

/// A task on coloured squares, with a placement pool.
pub fn bind(id: &str, split: Split) -> BoundTask {
    let placements = PlacementChoice::Pool(PlacementPool::default());
    BoundTask::with_placements(find_task(id).unwrap(), Arc::new(PlainStimuli::new(4)), split, placements)
        .unwrap()
}

/// 64 portraits and 500 match screens.
pub const MOVING: &str = "mts-2way-vert-motion";
pub const N_MOVING: usize = 2 * 32 + 500;

pub fn open(
    encoder: &PixelEncoder,
    cache_dir: Option<&Path>,
    tasks: &[&BoundTask],
    wanted: Wanted,
) -> FeatureSet {
    let settings = FeatureSettings { wanted, ..FeatureSettings::default() };
    FeatureSet::of_tasks(EncodeContext { encoder, cache_dir, progress: &NoProgress }, tasks, settings)
        .unwrap()
}

/// Every bit of a set's scene vectors and maps.
pub fn bits(set: &FeatureSet) -> Vec<u32> {
    let scenes = set.scenes().iter().map(|number| number.to_bits());
    let maps = (0..set.n_screens() as u32).filter_map(|index| set.map(index)).flatten();
    scenes.chain(maps.map(|number| u32::from(number.to_bits()))).collect()
}
