//! Many screens encoded one batch after the other.

use super::statistics::NumberStatistics;
use crate::encoder::{EncodeError, Encoder, Features};
use touchstream_env::screen::Screen;
use touchstream_files::Progress;

/// Scene vectors, one row a screen.
#[derive(Clone, Debug, PartialEq)]
pub struct SceneTable {
    /// `[n_rows, scene_len]`
    numbers: Vec<f32>,
    scene_len: usize,
}

impl SceneTable {
    /// A table of rows that follow each other; `scene_len` is above 0 and divides their number.
    pub fn new(numbers: Vec<f32>, scene_len: usize) -> Self {
        assert!(
            scene_len > 0 && numbers.len().is_multiple_of(scene_len),
            "rows of {scene_len} in {} numbers",
            numbers.len()
        );
        Self { numbers, scene_len }
    }

    /// The scene vectors.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f32]> {
        self.numbers.chunks_exact(self.scene_len)
    }

    /// All numbers, row after row.
    pub fn numbers(&self) -> &[f32] {
        &self.numbers
    }

    /// The mean row.
    pub fn mean(&self) -> Vec<f32> {
        let mut sums = vec![0.0_f64; self.scene_len];
        for row in self.rows() {
            sums.iter_mut().zip(row).for_each(|(sum, &number)| *sum += f64::from(number));
        }
        let n_rows = self.rows().len().max(1) as f64;
        sums.into_iter().map(|sum| (sum / n_rows) as f32).collect()
    }

    /// The rows less a vector, each scaled to norm 1; a row without a direction becomes zeros.
    pub fn directions_from(&self, centre: &[f32]) -> Self {
        let mut numbers = Vec::with_capacity(self.numbers.len());
        for row in self.rows() {
            let centred = || row.iter().zip(centre).map(|(number, centre)| number - centre);
            let norm = centred().map(|number| f64::from(number).powi(2)).sum::<f64>().sqrt();
            let scale = if norm.is_normal() { 1.0 / norm } else { 0.0 };
            numbers.extend(centred().map(|number| (f64::from(number) * scale) as f32));
        }
        Self { numbers, scene_len: self.scene_len }
    }
}

/// What many screens became.
#[derive(Clone, Debug)]
pub struct EncodedScreens {
    /// Their scene vectors.
    pub scenes: SceneTable,
    /// About the numbers of all their maps, which are not kept.
    pub maps: NumberStatistics,
}

/// Encodes `n` screens in the encoder's own batches. `draw` puts screen `idx` in `0..n` onto what it is handed.
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
    let mut numbers = Vec::with_capacity(n * shape.scene_len);
    let mut maps = NumberStatistics::default();
    for start in (0..n).step_by(batch_size) {
        let n_now = batch_size.min(n - start);
        for (offset, screen) in screens[..n_now].iter_mut().enumerate() {
            draw(start + offset, screen)?;
        }
        encoder.encode(&screens[..n_now], &mut features[..n_now])?;
        for encoded in &features[..n_now] {
            numbers.extend_from_slice(&encoded.scene);
            maps.add(&encoded.map);
        }
        progress.advance(n_now as u64);
    }
    Ok(EncodedScreens { scenes: SceneTable::new(numbers, shape.scene_len), maps })
}
