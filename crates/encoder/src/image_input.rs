//! Preprocessing: from a screen's bytes to a network's input, as usual for ImageNet networks.

use crate::convolution::Activations;
use touchstream_env::screen::Screen;
use touchstream_env::touch::SCREEN_SIDE_PX;

/// Mean red, green and blue of ImageNet, in `[0, 1]`.
pub const IMAGENET_MEAN: [f32; 3] = [0.485, 0.456, 0.406];
/// Standard deviation of red, green and blue of ImageNet.
pub const IMAGENET_DEVIATION: [f32; 3] = [0.229, 0.224, 0.225];

/// `(byte / 255 - mean) / deviation` for each colour, as one multiplication and one addition.
pub(crate) struct ColourScale {
    scale: [f32; 3],
    offset: [f32; 3],
}

impl ColourScale {
    pub fn new(mean: [f32; 3], deviation: [f32; 3]) -> Self {
        Self {
            scale: deviation.map(|deviation| 1.0 / (255.0 * deviation)),
            offset: std::array::from_fn(|colour| -mean[colour] / deviation[colour]),
        }
    }

    pub fn imagenet() -> Self {
        Self::new(IMAGENET_MEAN, IMAGENET_DEVIATION)
    }

    /// Converts a byte, or an interpolated value between two bytes.
    #[inline(always)]
    pub fn apply(&self, colour: usize, byte: f32) -> f32 {
        byte * self.scale[colour] + self.offset[colour]
    }
}

/// `(byte / 255 - mean) / deviation` for each byte and colour, computed in this order; the last bits differ from those
/// of [`ColourScale`].
pub(crate) struct InputTable([[f32; 256]; 3]);

impl InputTable {
    pub fn imagenet() -> Self {
        Self(std::array::from_fn(|colour| {
            std::array::from_fn(|byte| {
                (byte as f32 / 255.0 - IMAGENET_MEAN[colour]) / IMAGENET_DEVIATION[colour]
            })
        }))
    }

    /// Writes screens into a batch with three channels.
    pub fn write(&self, screens: &[Screen], batch: &mut Activations) {
        batch.reshape(screens.len(), SCREEN_SIDE_PX, 3);
        let (row_len, image_len) = (batch.row_len(), batch.image_len());
        for (screen, image) in screens.iter().zip(batch.used_mut().chunks_exact_mut(image_len)) {
            let rows = screen.pixels().chunks_exact(SCREEN_SIDE_PX * 3);
            for (bytes, row) in rows.zip(image.chunks_exact_mut(row_len).skip(1)) {
                for (pixel, inputs) in bytes.as_chunks::<3>().0.iter().zip(row[3..].as_chunks_mut::<3>().0) {
                    *inputs = std::array::from_fn(|colour| self.0[colour][usize::from(pixel[colour])]);
                }
            }
        }
    }
}
