//! Resizes images, with antialiasing.

use crate::pixels::RgbImage;
use touchstream_env::touch::SCREEN_SIDE_PX;

/// A part of an image, in pixels; not necessarily whole ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crop {
    pub left: f64,
    pub top: f64,
    pub width: f64,
    pub height: f64,
}

impl Crop {
    /// Short side scaled to 256, then the central 224 x 224, as the paper's network expects: a square of 7/8 of the
    /// short side.
    pub fn of_screen(width: u32, height: u32) -> Self {
        Self::middle_square(width, height, 224.0 / 256.0)
    }

    /// The largest square at the centre.
    pub fn largest_square(width: u32, height: u32) -> Self {
        Self::middle_square(width, height, 1.0)
    }

    /// The whole image; it is stretched if it is not square.
    pub fn whole(width: u32, height: u32) -> Self {
        Self { left: 0.0, top: 0.0, width: f64::from(width), height: f64::from(height) }
    }

    fn middle_square(width: u32, height: u32, share: f64) -> Self {
        let side = f64::from(width.min(height)) * share;
        let (left, top) = ((f64::from(width) - side) / 2.0, (f64::from(height) - side) / 2.0);
        Self { left, top, width: side, height: side }
    }

    /// The image's column at the centre of a screen column.
    pub fn source_col(self, screen_col: usize) -> usize {
        (self.left + (screen_col as f64 + 0.5) * self.width / SCREEN_SIDE_PX as f64) as usize
    }

    /// The image's row at the centre of a screen row.
    pub fn source_row(self, screen_row: usize) -> usize {
        (self.top + (screen_row as f64 + 0.5) * self.height / SCREEN_SIDE_PX as f64) as usize
    }
}

/// Resizes a crop to `[side_px, side_px, RGB]`. Bilinear, with a support that grows with the reduction, as in the
/// training of common networks; no halos, and the same bytes on every machine.
pub fn resize_square(image: &RgbImage, crop: Crop, side_px: usize) -> Box<[u8]> {
    let (width, height) = (image.width() as usize, image.height() as usize);
    let columns = taps(crop.left, crop.width, side_px, width);
    let rows = taps(crop.top, crop.height, side_px, height);
    let first_row = rows.first().map_or(0, |taps| taps.first);
    let end_row = rows.last().map_or(0, |taps| taps.first + taps.weights.len());

    // `[rows needed, side_px, RGB]`: already resized along the rows.
    let mut narrow = vec![0.0_f32; (end_row - first_row) * side_px * 3];
    let source_rows = image.as_bytes().chunks_exact(width * 3).skip(first_row);
    for (source, target) in source_rows.zip(narrow.chunks_exact_mut(side_px * 3)) {
        for (taps, pixel) in columns.iter().zip(target.chunks_exact_mut(3)) {
            for (weight, from) in taps.weights.iter().zip(source[taps.first * 3..].chunks_exact(3)) {
                pixel.iter_mut().zip(from).for_each(|(sum, &byte)| *sum += weight * f32::from(byte));
            }
        }
    }
    let mut pixels = Vec::with_capacity(side_px * side_px * 3);
    let mut sums = vec![0.0_f32; side_px * 3];
    for taps in &rows {
        sums.fill(0.5);
        let from_rows = narrow.chunks_exact(side_px * 3).skip(taps.first - first_row);
        for (weight, from) in taps.weights.iter().zip(from_rows) {
            sums.iter_mut().zip(from).for_each(|(sum, value)| *sum += weight * value);
        }
        pixels.extend(sums.iter().map(|&sum| sum as u8));
    }
    pixels.into_boxed_slice()
}

/// The source pixels of one target pixel along an axis, with weights that add up to 1.
struct Taps {
    first: usize,
    weights: Vec<f32>,
}

fn taps(start: f64, extent: f64, n_target: usize, n_source: usize) -> Vec<Taps> {
    let scale = extent / n_target as f64;
    let support = scale.max(1.0);
    let taps_of = |target: usize| {
        let center = start + (target as f64 + 0.5) * scale;
        let first = ((center - support + 0.5).max(0.0) as usize).min(n_source - 1);
        let end = ((center + support + 0.5) as usize).clamp(first + 1, n_source);
        let weight = |source: usize| (1.0 - (source as f64 + 0.5 - center).abs() / support).max(0.0);
        let total: f64 = (first..end).map(weight).sum();
        Taps { first, weights: (first..end).map(|source| (weight(source) / total) as f32).collect() }
    };
    (0..n_target).map(taps_of).collect()
}

/// An image scaled to the screen: short side to 256, central 224 x 224.
pub fn screen_from_image(image: &RgbImage) -> Box<[u8]> {
    resize_square(image, Crop::of_screen(image.width(), image.height()), SCREEN_SIDE_PX)
}

/// An image as a template: its largest central square.
pub fn template_from_image(image: &RgbImage, side_px: usize) -> Box<[u8]> {
    resize_square(image, Crop::largest_square(image.width(), image.height()), side_px)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_constant_picture_stays_constant(width in 1_u32..600, height in 1_u32..600, color in any::<[u8; 3]>()) {
            let image = RgbImage::from_pixel(width, height, color);
            let screen = screen_from_image(&image);
            prop_assert!(screen.chunks_exact(3).all(|pixel| pixel == color));
            let template = template_from_image(&image, 100);
            prop_assert_eq!(template.len(), 30_000);
            prop_assert!(template.chunks_exact(3).all(|pixel| pixel == color));
        }

        #[test]
        fn the_crop_stays_inside(width in 1_u32..20_000, height in 1_u32..20_000) {
            for crop in [Crop::of_screen(width, height), Crop::whole(width, height)] {
                prop_assert!(crop.left >= 0.0 && crop.left + crop.width <= f64::from(width));
                prop_assert!(crop.source_col(0) < width as usize && crop.source_col(223) < width as usize);
                prop_assert!(crop.source_row(0) < height as usize && crop.source_row(223) < height as usize);
            }
        }
    }

    #[test]
    fn images_are_neither_stretched_nor_moved() {
        // A white square in the middle of a 512 x 256 image, 128 wide: it must be 128 px on the screen.
        let inside = |x: u32, y: u32| (192..320).contains(&x) && (64..192).contains(&y);
        let image = RgbImage::from_fn(512, 256, |x, y| [if inside(x, y) { 255 } else { 0 }; 3]);
        let screen = screen_from_image(&image);
        for row in 0..224 {
            for col in 0..224 {
                let expected = if (48..176).contains(&row) && (48..176).contains(&col) { 255 } else { 0 };
                assert_eq!(screen[(row * 224 + col) * 3], expected, "row {row} col {col}");
            }
        }
    }

    #[test]
    fn fine_stripes_average_out() {
        let image = RgbImage::from_fn(2048, 2048, |x, _| [if x % 2 == 0 { 255 } else { 0 }; 3]);
        let screen = screen_from_image(&image);
        assert!(screen.iter().all(|&byte| byte.abs_diff(128) < 12));
    }
}
