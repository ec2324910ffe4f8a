//! A cut-out that can be painted at any position, size and angle, with antialiased edges.

use crate::pixels::RgbaImage;
use touchstream_env::touch::SCREEN_SIDE_PX;

/// Pixels with a lower alpha are treated as transparent.
const MIN_ALPHA: u8 = 8;

/// The smallest size of a cut-out on the screen: the longer side of its box, in pixels.
pub const MIN_SIDE_PX: f32 = 40.0;

/// Minimum number of pixels that a cut-out covers by at least half at its smallest size.
const MIN_COVERED_PX: usize = 20;

/// A cut-out in full, half, quarter size and so on (mipmaps), so that shrinking it does not alias.
#[derive(Debug)]
pub struct Sprite {
    levels: Vec<Level>,
}

/// `[height, width, RGBA]`, premultiplied, in [0, 1].
#[derive(Debug)]
struct Level {
    width: usize,
    height: usize,
    pixels: Vec<[f32; 4]>,
}

/// The position of a cut-out on a canvas.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placement {
    /// Canvas coordinates of the cut-out's centre.
    pub center: (f32, f32),
    /// Canvas pixels per pixel of the cut-out.
    pub scale: f32,
    /// Cosine and sine of the rotation.
    pub turn: (f32, f32),
}

impl Sprite {
    /// A cut-out, trimmed to its visible part; or the reason why an image is not a cut-out.
    pub fn new(image: &RgbaImage) -> Result<Self, &'static str> {
        let places = || (0..image.height()).flat_map(|y| (0..image.width()).map(move |x| (x, y)));
        let visible = || places().filter(|&(x, y)| image.pixel(x, y)[3] >= MIN_ALPHA);
        if visible().next().is_none() {
            return Err("it has no visible pixel");
        }
        if image.pixels().iter().all(|pixel| pixel[3] >= 128) {
            return Err("it has no transparent pixel, so it is not a cut-out");
        }
        let (mut left, mut top, mut right, mut bottom) = (u32::MAX, u32::MAX, 0, 0);
        for (x, y) in visible() {
            (left, top) = (left.min(x), top.min(y));
            (right, bottom) = (right.max(x + 1), bottom.max(y + 1));
        }
        let premultiplied = |(x, y): (u32, u32)| {
            let [red, green, blue, alpha] = image.pixel(x, y).map(|byte| f32::from(byte) / 255.0);
            [red * alpha, green * alpha, blue * alpha, alpha]
        };
        let pixels =
            (top..bottom).flat_map(|y| (left..right).map(move |x| (x, y))).map(premultiplied).collect();
        let mut levels =
            vec![Level { width: (right - left) as usize, height: (bottom - top) as usize, pixels }];
        while levels[levels.len() - 1].width.max(levels[levels.len() - 1].height) > 16 {
            levels.push(levels[levels.len() - 1].halved());
        }
        let sprite = Self { levels };
        let longer_side = sprite.levels[0].width.max(sprite.levels[0].height) as f32;
        let middle = SCREEN_SIDE_PX as f32 / 2.0;
        let smallest =
            Placement { center: (middle, middle), scale: MIN_SIDE_PX / longer_side, turn: (1.0, 0.0) };
        match sprite.screen_coverage(smallest).iter().filter(|&&is_covered| is_covered).count() {
            MIN_COVERED_PX.. => Ok(sprite),
            _ => Err("it is too thin or too transparent to be visible at its smallest size"),
        }
    }

    /// Width and height of the cut-out's box after rotation, in its own pixels.
    pub fn turned_size(&self, (cos, sin): (f32, f32)) -> (f32, f32) {
        let (width, height) = (self.levels[0].width as f32, self.levels[0].height as f32);
        (width * cos.abs() + height * sin.abs(), width * sin.abs() + height * cos.abs())
    }

    /// Calls `paint(row, col, [red, green, blue, alpha])`, premultiplied, for all pixels of a square canvas that the
    /// cut-out can affect. Boxes and masks are computed with it, too, so they match the painted pixels exactly.
    pub fn for_each_pixel(
        &self,
        place: Placement,
        canvas_side_px: usize,
        mut paint: impl FnMut(usize, usize, [f32; 4]),
    ) {
        let (width, height) = self.turned_size(place.turn);
        let range = |center: f32, size: f32| {
            let half = size * place.scale / 2.0 + 2.0;
            (center - half).max(0.0) as usize..((center + half).max(0.0) as usize + 1).min(canvas_side_px)
        };
        let (level, level_scale) = self.level_for(place.scale);
        let (cos, sin) = place.turn;
        let from_canvas = |x: f32, y: f32| {
            let (x, y) = ((x - place.center.0) / level_scale, (y - place.center.1) / level_scale);
            (x * cos + y * sin + level.width as f32 / 2.0, y * cos - x * sin + level.height as f32 / 2.0)
        };
        for row in range(place.center.1, height) {
            for col in range(place.center.0, width) {
                let mut sum = [0.0; 4];
                for (dx, dy) in [(0.25, 0.25), (0.75, 0.25), (0.25, 0.75), (0.75, 0.75)] {
                    let (x, y) = from_canvas(col as f32 + dx, row as f32 + dy);
                    let sample = level.sample(x, y);
                    sum.iter_mut().zip(sample).for_each(|(sum, channel)| *sum += channel * 0.25);
                }
                if sum[3] > 0.0 {
                    paint(row, col, sum);
                }
            }
        }
    }

    /// Whether the cut-out covers each screen pixel by at least half, `[224, 224]`.
    pub fn screen_coverage(&self, place: Placement) -> Vec<bool> {
        let mut is_covered = vec![false; SCREEN_SIDE_PX * SCREEN_SIDE_PX];
        self.for_each_pixel(place, SCREEN_SIDE_PX, |row, col, [.., alpha]| {
            is_covered[row * SCREEN_SIDE_PX + col] = alpha >= 0.5;
        });
        is_covered
    }

    /// Paints the cut-out over `[side_px, side_px, RGB]` bytes.
    pub fn paint(&self, place: Placement, pixels: &mut [u8], side_px: usize) {
        self.for_each_pixel(place, side_px, |row, col, [red, green, blue, alpha]| {
            let under = &mut pixels[(row * side_px + col) * 3..][..3];
            for (byte, channel) in under.iter_mut().zip([red, green, blue]) {
                *byte = (channel * 255.0 + f32::from(*byte) * (1.0 - alpha) + 0.5) as u8;
            }
        });
    }

    /// The smallest level that has at least one pixel per canvas pixel, and its scale.
    fn level_for(&self, scale: f32) -> (&Level, f32) {
        let mut level_scale = scale;
        let mut idx = 0;
        while level_scale <= 0.5 && idx + 1 < self.levels.len() {
            level_scale *= 2.0;
            idx += 1;
        }
        (&self.levels[idx], level_scale)
    }
}

impl Level {
    fn halved(&self) -> Self {
        let (width, height) = (self.width.div_ceil(2), self.height.div_ceil(2));
        let mean = |col: usize, row: usize| {
            let mut sum = [0.0; 4];
            for (dx, dy) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
                let pixel = self.pixel((2 * col + dx) as isize, (2 * row + dy) as isize);
                sum.iter_mut().zip(pixel).for_each(|(sum, channel)| *sum += channel * 0.25);
            }
            sum
        };
        let pixels = (0..height).flat_map(|row| (0..width).map(move |col| (col, row)));
        Self { width, height, pixels: pixels.map(|(col, row)| mean(col, row)).collect() }
    }

    /// A pixel; transparent outside of the cut-out.
    fn pixel(&self, col: isize, row: isize) -> [f32; 4] {
        let is_inside = (0..self.width as isize).contains(&col) && (0..self.height as isize).contains(&row);
        if is_inside { self.pixels[row as usize * self.width + col as usize] } else { [0.0; 4] }
    }

    /// Bilinear interpolation; `x` and `y` are in pixels from the top left corner.
    fn sample(&self, x: f32, y: f32) -> [f32; 4] {
        let (x, y) = (x - 0.5, y - 0.5);
        let (left, top) = (x.floor(), y.floor());
        let (right_share, bottom_share) = (x - left, y - top);
        let (left, top) = (left as isize, top as isize);
        let mut sum = [0.0; 4];
        for (col, row, weight) in [
            (left, top, (1.0 - right_share) * (1.0 - bottom_share)),
            (left + 1, top, right_share * (1.0 - bottom_share)),
            (left, top + 1, (1.0 - right_share) * bottom_share),
            (left + 1, top + 1, right_share * bottom_share),
        ] {
            let pixel = self.pixel(col, row);
            sum.iter_mut().zip(pixel).for_each(|(sum, channel)| *sum += channel * weight);
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A red rectangle of 40 x 20 in the middle of nothing.
    fn rectangle() -> RgbaImage {
        let inside = |x: u32, y: u32| (10..50).contains(&x) && (10..30).contains(&y);
        RgbaImage::from_fn(60, 40, |x, y| if inside(x, y) { [255, 0, 0, 255] } else { [0, 255, 0, 0] })
    }

    #[test]
    fn a_sprite_is_trimmed_and_lands_where_it_is_put() {
        let sprite = Sprite::new(&rectangle()).unwrap();
        let place = Placement { center: (100.0, 60.0), scale: 2.0, turn: (1.0, 0.0) };
        let covered = sprite.screen_coverage(place);
        for row in 0..SCREEN_SIDE_PX {
            for col in 0..SCREEN_SIDE_PX {
                let expected = (60..140).contains(&col) && (40..80).contains(&row);
                assert_eq!(covered[row * SCREEN_SIDE_PX + col], expected, "row {row} col {col}");
            }
        }
    }

    #[test]
    fn edges_blend_without_the_colour_of_what_is_transparent() {
        let sprite = Sprite::new(&rectangle()).unwrap();
        let mut pixels = vec![128; SCREEN_SIDE_PX * SCREEN_SIDE_PX * 3];
        for scale in [0.3, 0.77, 1.9] {
            let place = Placement { center: (100.3, 60.6), scale, turn: (0.8, 0.6) };
            sprite.paint(place, &mut pixels, SCREEN_SIDE_PX);
        }
        assert!(pixels.chunks_exact(3).all(|pixel| pixel[0] >= 128 && pixel[1] <= 128 && pixel[2] <= 128));
    }

    #[test]
    fn images_that_are_not_cut_outs_are_rejected() {
        let refused = |alpha| Sprite::new(&RgbaImage::from_pixel(9, 9, [1, 2, 3, alpha])).unwrap_err();
        assert_eq!(refused(0), "it has no visible pixel");
        assert_eq!(refused(255), "it has no transparent pixel, so it is not a cut-out");
        assert_eq!(refused(60), "it is too thin or too transparent to be visible at its smallest size");
        let hair = RgbaImage::from_fn(200, 200, |x, _| [9, 9, 9, if x == 7 { 255 } else { 0 }]);
        assert_eq!(
            Sprite::new(&hair).unwrap_err(),
            "it is too thin or too transparent to be visible at its smallest size"
        );
    }
}
