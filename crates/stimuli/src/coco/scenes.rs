//! Scales images and their masks to the screen.

use super::rle::Rle;
use crate::options::SceneFit;
use crate::pixels::RgbImage;
use crate::resize::{Crop, resize_square};
use touchstream_env::mask::Mask;
use touchstream_env::touch::SCREEN_SIDE_PX;

/// Minimum visible size of an object: with fewer pixels on the screen, it is not an instance of the scene.
pub const MIN_VISIBLE_PX: usize = 20;

/// The part of an image that fills the screen.
pub fn scene_crop(fit: SceneFit, width: u32, height: u32) -> Crop {
    match fit {
        SceneFit::Whole => Crop::whole(width, height),
        SceneFit::Crop => Crop::of_screen(width, height),
    }
}

/// An image scaled to the screen.
pub fn screen_of_scene(fit: SceneFit, image: &RgbImage) -> Box<[u8]> {
    resize_square(image, scene_crop(fit, image.width(), image.height()), SCREEN_SIDE_PX)
}

/// The screen pixels whose centre is on the object, if the crop of its image fills the screen.
pub fn screen_mask(rle: &Rle, crop: Crop) -> Mask {
    let height = rle.size().0;
    let runs = rle.inside();
    let rows: Vec<u32> = (0..SCREEN_SIDE_PX).map(|row| crop.source_row(row) as u32).collect();
    let mut is_inside = vec![false; SCREEN_SIDE_PX * SCREEN_SIDE_PX];
    for col in 0..SCREEN_SIDE_PX {
        let column_start = crop.source_col(col) as u32 * height;
        let mut run_idx = runs.partition_point(|run| run.end <= column_start);
        for (row, &source_row) in rows.iter().enumerate() {
            let pixel = column_start + source_row;
            while runs.get(run_idx).is_some_and(|run| run.end <= pixel) {
                run_idx += 1;
            }
            match runs.get(run_idx) {
                Some(run) if run.start < column_start + height => {
                    is_inside[row * SCREEN_SIDE_PX + col] = run.start <= pixel;
                }
                _ => break,
            }
        }
    }
    Mask::from_fn(|row, col| is_inside[row * SCREEN_SIDE_PX + col])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_screen_pixel_is_inside_if_the_image_pixel_under_its_middle_is(
            height in 1_u32..300, width in 1_u32..300, counts in prop::collection::vec(0_u32..2000, 0..60),
        ) {
            let mut left = height * width;
            let mut counts: Vec<u32> = counts.into_iter().map(|count| { let count = count.min(left); left -= count; count }).collect();
            counts.push(left);
            let rle = Rle::from_counts(height, width, counts).unwrap();
            let mut pixels = vec![false; (height * width) as usize];
            rle.inside().into_iter().for_each(|run| pixels[run.start as usize..run.end as usize].fill(true));
            for fit in [SceneFit::Whole, SceneFit::Crop] {
                let crop = scene_crop(fit, width, height);
                let expected = Mask::from_fn(|row, col| {
                    pixels[crop.source_col(col) * height as usize + crop.source_row(row)]
                });
                prop_assert_eq!(screen_mask(&rle, crop), expected);
            }
        }
    }
}
