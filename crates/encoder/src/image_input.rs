//! From a screen's bytes to a network's input: the usual preprocessing of ImageNet networks.

use crate::convolution::Activations;
use touchstream_env::screen::Screen;
use touchstream_env::touch::SCREEN_SIDE_PX;

/// Mean of ImageNet's red, green and blue, in `[0, 1]`.
pub const IMAGENET_MEAN: [f32; 3] = [0.485, 0.456, 0.406];
/// Standard deviation of ImageNet's red, green and blue.
pub const IMAGENET_DEVIATION: [f32; 3] = [0.229, 0.224, 0.225];

/// What each byte of each colour becomes: `(byte / 255 - mean) / deviation`.
pub(crate) struct InputTable([[f32; 256]; 3]);

impl InputTable {
    pub fn imagenet() -> Self {
        Self(std::array::from_fn(|colour| {
            std::array::from_fn(|byte| {
                (byte as f32 / 255.0 - IMAGENET_MEAN[colour]) / IMAGENET_DEVIATION[colour]
            })
        }))
    }

    /// Writes screens as a batch of three channels.
    pub fn write(&self, screens: &[Screen], batch: &mut Activations) {
        batch.reshape(screens.len(), SCREEN_SIDE_PX, 3);
        let (row_len, image_len) = (batch.row_len(), batch.image_len());
        for (screen, image) in screens.iter().zip(batch.used_mut().chunks_exact_mut(image_len)) {
            let rows = screen.pixels().chunks_exact(SCREEN_SIDE_PX * 3);
            for (bytes, row) in rows.zip(image.chunks_exact_mut(row_len).skip(1)) {
                for (pixel, numbers) in bytes.as_chunks::<3>().0.iter().zip(row[3..].as_chunks_mut::<3>().0) {
                    *numbers = std::array::from_fn(|colour| self.0[colour][usize::from(pixel[colour])]);
                }
            }
        }
    }
}
