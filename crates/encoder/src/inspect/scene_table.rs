//! Encodes many screens into a table of scene vectors.

use super::statistics::ValueStatistics;
use crate::encoder::{EncodeError, Encoder, Features};
use touchstream_env::screen::Screen;
use touchstream_files::Progress;

/// Scene vectors, one row per screen.
#[derive(Clone, Debug, PartialEq)]
pub struct SceneTable {
    /// `[n_rows, scene_len]`
    values: Vec<f32>,
    scene_len: usize,
}

impl SceneTable {
    /// A table from consecutive rows. Panics unless `scene_len` is above 0 and divides the number of values.
    pub fn new(values: Vec<f32>, scene_len: usize) -> Self {
        assert!(
            scene_len > 0 && values.len().is_multiple_of(scene_len),
            "{} values are not rows of {scene_len}",
            values.len()
        );
        Self { values, scene_len }
    }

    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f32]> {
        self.values.chunks_exact(self.scene_len)
    }

    /// All values, row by row.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// The mean row.
    pub fn mean(&self) -> Vec<f32> {
        let mut sums = vec![0.0_f64; self.scene_len];
        for row in self.rows() {
            sums.iter_mut().zip(row).for_each(|(sum, &value)| *sum += f64::from(value));
        }
        let n_rows = self.rows().len().max(1) as f64;
        sums.into_iter().map(|sum| (sum / n_rows) as f32).collect()
    }

    /// The rows minus `centre`, each scaled to norm 1; a row of norm 0 becomes zeros.
    pub fn directions_from(&self, centre: &[f32]) -> Self {
        let mut values = Vec::with_capacity(self.values.len());
        for row in self.rows() {
            let centred = || row.iter().zip(centre).map(|(value, centre)| value - centre);
            let norm = centred().map(|value| f64::from(value).powi(2)).sum::<f64>().sqrt();
            let scale = if norm.is_normal() { 1.0 / norm } else { 0.0 };
            values.extend(centred().map(|value| (f64::from(value) * scale) as f32));
        }
        Self { values, scene_len: self.scene_len }
    }
}

/// The features of many screens.
#[derive(Clone, Debug)]
pub struct EncodedScreens {
    pub scenes: SceneTable,
    /// Statistics of all spatial maps, which are not kept.
    pub maps: ValueStatistics,
}

/// Encodes `n` screens in batches. `draw` draws screen `idx` in `0..n`.
pub fn encode_screens<E: From<EncodeError>>(
    encoder: &dyn Encoder,
    n: usize,
    mut draw: impl FnMut(usize, &mut Screen) -> Result<(), E>,
    progress: &dyn Progress,
) -> Result<EncodedScreens, E> {
    let shape = encoder.shape();
    let batch_size = encoder.batch_size().max(1);
    let mut screens = vec![Screen::grey(); batch_size.min(n)];
    let mut features = vec![Features::zeros(shape); screens.len()];
    let mut values = Vec::with_capacity(n * shape.scene_len);
    let mut maps = ValueStatistics::default();
    for start in (0..n).step_by(batch_size) {
        let n_now = batch_size.min(n - start);
        for (offset, screen) in screens[..n_now].iter_mut().enumerate() {
            draw(start + offset, screen)?;
        }
        encoder.encode(&screens[..n_now], &mut features[..n_now])?;
        for encoded in &features[..n_now] {
            values.extend_from_slice(&encoded.scene);
            maps.add(&encoded.map);
        }
        progress.advance(n_now as u64);
    }
    Ok(EncodedScreens { scenes: SceneTable::new(values, shape.scene_len), maps })
}
