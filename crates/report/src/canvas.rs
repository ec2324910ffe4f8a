//! An RGB image with drawing operations: paste, rings, boxes, text.

use crate::colour_map::{colour_of, colour_of_level};
use crate::lettering::{LINE_PX, Weight, text_mask, text_width};
use touchstream_env::reward_map::RewardMap;
use touchstream_env::screen::Screen;
use touchstream_env::touch::SCREEN_SIDE_PX;

/// An RGB image of any size. Drawing beyond its edges is clipped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Canvas {
    width: usize,
    height: usize,
    pixels: Vec<u8>,
}

/// Length of a colour bar.
const BAR_PX: usize = 96;

/// The top left pixel of something that is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Pixels from the left.
    pub x: usize,
    /// Pixels from the top.
    pub y: usize,
}

impl Canvas {
    /// A canvas of one colour.
    pub fn new(width: usize, height: usize, colour: [u8; 3]) -> Self {
        Self { width, height, pixels: colour.repeat(width * height) }
    }

    /// An image from rows of RGB bytes, from the top. All rows must have the same length.
    pub fn of_rows<'a>(rows: impl Iterator<Item = &'a [u8]>) -> Self {
        let (mut pixels, mut height) = (Vec::new(), 0);
        for row in rows {
            pixels.extend_from_slice(row);
            height += 1;
        }
        Self { width: pixels.len() / 3 / height.max(1), height, pixels }
    }

    /// The pixels of a screen.
    pub fn of_screen(screen: &Screen) -> Self {
        Self { width: SCREEN_SIDE_PX, height: SCREEN_SIDE_PX, pixels: screen.pixels().to_vec() }
    }

    /// A reward map as a heat map.
    pub fn of_map(map: &RewardMap) -> Self {
        let pixels = map.values().iter().flat_map(|&value| colour_of(value)).collect();
        Self { width: SCREEN_SIDE_PX, height: SCREEN_SIDE_PX, pixels }
    }

    pub fn width(&self) -> usize {
        self.width
    }

    pub fn height(&self) -> usize {
        self.height
    }

    /// The bytes, `[height, width, 3]`.
    pub fn pixels(&self) -> &[u8] {
        &self.pixels
    }

    /// The colour of a pixel, `None` beyond the edges.
    pub fn at(&self, x: usize, y: usize) -> Option<[u8; 3]> {
        let inside = x < self.width && y < self.height;
        inside.then(|| {
            let at = (y * self.width + x) * 3;
            [self.pixels[at], self.pixels[at + 1], self.pixels[at + 2]]
        })
    }

    pub fn set(&mut self, x: usize, y: usize, colour: [u8; 3]) {
        if x < self.width && y < self.height {
            let at = (y * self.width + x) * 3;
            self.pixels[at..at + 3].copy_from_slice(&colour);
        }
    }

    /// Copies another canvas onto this one.
    pub fn paste(&mut self, other: &Self, place: Place) {
        for y in 0..other.height.min(self.height.saturating_sub(place.y)) {
            let n_pixels = other.width.min(self.width.saturating_sub(place.x));
            let from = &other.pixels[y * other.width * 3..][..n_pixels * 3];
            let at = ((place.y + y) * self.width + place.x) * 3;
            self.pixels[at..at + n_pixels * 3].copy_from_slice(from);
        }
    }

    /// The canvas scaled down by an integer: each pixel is the mean of a `divisor` x `divisor` block.
    pub fn shrunk(&self, divisor: usize) -> Self {
        let divisor = divisor.max(1);
        let mut small = Self::new(self.width / divisor, self.height / divisor, [0; 3]);
        for y in 0..small.height {
            for x in 0..small.width {
                let mut sums = [0_usize; 3];
                for block_y in 0..divisor {
                    let at = ((y * divisor + block_y) * self.width + x * divisor) * 3;
                    for pixel in self.pixels[at..at + divisor * 3].chunks_exact(3) {
                        sums.iter_mut().zip(pixel).for_each(|(sum, &byte)| *sum += usize::from(byte));
                    }
                }
                small.set(x, y, sums.map(|sum| (sum / (divisor * divisor)) as u8));
            }
        }
        small
    }

    /// Writes a line of text, `LINE_PX` high, with its top left pixel at `place`.
    pub fn write(&mut self, text: &str, place: Place, colour: [u8; 3]) {
        self.write_in(Weight::Regular, text, place, colour);
    }

    /// The same in bold.
    pub fn write_bold(&mut self, text: &str, place: Place, colour: [u8; 3]) {
        self.write_in(Weight::Bold, text, place, colour);
    }

    fn write_in(&mut self, weight: Weight, text: &str, place: Place, colour: [u8; 3]) {
        let Some((width, mask)) = text_mask(text, weight) else { return };
        for (y, row) in (place.y..).zip(mask.chunks_exact(width)) {
            for (x, &cover) in (place.x..).zip(row).filter(|(_, cover)| **cover > 0) {
                let Some(below) = self.at(x, y) else { break };
                let cover = u32::from(cover);
                let mixed = |idx: usize| {
                    let sum = u32::from(colour[idx]) * cover + u32::from(below[idx]) * (255 - cover);
                    ((sum + 127) / 255) as u8
                };
                self.set(x, y, [0, 1, 2].map(mixed));
            }
        }
    }

    /// Draws the colours of rewards from 0 to `top`, with a number at each end; returns the width.
    pub fn colour_bar(&mut self, place: Place, top: &str, ink: [u8; 3]) -> usize {
        let bar_x = place.x + text_width("0", Weight::Regular) + 5;
        self.write("0", place, ink);
        for x in 0..BAR_PX {
            let colour = colour_of_level((x * 255 / (BAR_PX - 1)) as u8);
            (3..LINE_PX - 2).for_each(|y| self.set(bar_x + x, place.y + y, colour));
        }
        let end = bar_x + BAR_PX + 5;
        self.write(top, Place { x: end, y: place.y }, ink);
        end + text_width(top, Weight::Regular) - place.x
    }

    /// Marks a pixel with a black ring inside a white one, which is visible on any background.
    pub fn ring(&mut self, centre: Place, radius: usize) {
        let reach = radius as isize + 2;
        for dy in -reach..=reach {
            for dx in -reach..=reach {
                let distance = ((dx * dx + dy * dy) as f32).sqrt() - radius as f32;
                let colour = match distance.abs() {
                    near if near < 0.8 => [255; 3],
                    near if near < 1.8 => [0; 3],
                    _ => continue,
                };
                let x = centre.x.checked_add_signed(dx);
                if let (Some(x), Some(y)) = (x, centre.y.checked_add_signed(dy)) {
                    self.set(x, y, colour);
                }
            }
        }
    }

    /// Draws a box with these corner pixels: a white line inside a black one, which is visible on any background.
    pub fn frame(&mut self, first: Place, last: Place) {
        let outside =
            |at: usize, first: usize, last: usize| first.saturating_sub(at).max(at.saturating_sub(last));
        let inside =
            |at: usize, first: usize, last: usize| at.saturating_sub(first).min(last.saturating_sub(at));
        for y in first.y.saturating_sub(1)..=last.y + 1 {
            for x in first.x.saturating_sub(1)..=last.x + 1 {
                let beyond = outside(x, first.x, last.x).max(outside(y, first.y, last.y));
                let within = inside(x, first.x, last.x).min(inside(y, first.y, last.y));
                match (beyond, within) {
                    (0, 0) => self.set(x, y, [255; 3]),
                    (1, _) => self.set(x, y, [0; 3]),
                    _ => {}
                }
            }
        }
    }

    /// The bytes of a PNG file.
    pub fn to_png(&self) -> Result<Vec<u8>, png::EncodingError> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, self.width as u32, self.height as u32);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_compression(png::Compression::Fast);
        encoder.write_header()?.write_image_data(&self.pixels)?;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLACK: [u8; 3] = [0; 3];
    const WHITE: [u8; 3] = [255; 3];

    #[test]
    fn drawing_past_the_edge_is_cut_off() {
        let mut canvas = Canvas::new(20, 10, BLACK);
        canvas.paste(&Canvas::new(9, 9, WHITE), Place { x: 15, y: 5 });
        canvas.paste(&Canvas::new(9, 9, WHITE), Place { x: 90, y: 50 });
        canvas.write("touch", Place { x: 12, y: 7 }, WHITE);
        canvas.ring(Place { x: 0, y: 0 }, 5);
        assert_eq!(canvas.at(19, 9), Some(WHITE));
        assert_eq!(canvas.at(20, 9), None);
    }

    #[test]
    fn a_frame_is_drawn_on_the_edge_and_around_it() {
        let mut canvas = Canvas::new(10, 10, [9; 3]);
        canvas.frame(Place { x: 2, y: 3 }, Place { x: 6, y: 9 });
        assert_eq!([canvas.at(2, 3), canvas.at(6, 9), canvas.at(4, 3)], [Some(WHITE); 3]);
        assert_eq!([canvas.at(1, 2), canvas.at(7, 5)], [Some(BLACK); 2]);
        assert_eq!([canvas.at(4, 5), canvas.at(9, 5)], [Some([9; 3]); 2]);
    }

    #[test]
    fn shrinking_takes_means() {
        let mut canvas = Canvas::new(4, 2, BLACK);
        canvas.set(0, 0, [200; 3]);
        canvas.set(1, 1, [100; 3]);
        let small = canvas.shrunk(2);
        assert_eq!((small.width(), small.height()), (2, 1));
        assert_eq!(small.at(0, 0), Some([75; 3]));
        assert_eq!(small.at(1, 0), Some(BLACK));
    }

    #[test]
    fn letters_are_drawn_and_differ() {
        let drawn = |text: &str| {
            let mut canvas = Canvas::new(12, LINE_PX, BLACK);
            canvas.write(text, Place { x: 0, y: 0 }, WHITE);
            canvas
        };
        assert_ne!(drawn("a"), drawn("b"));
        assert_ne!(drawn("a"), drawn(" "));
        assert_eq!(drawn("\u{4e2d}"), drawn("?"), "the font lacks it");
    }

    #[test]
    fn a_png_decodes_to_the_same_pixels() {
        let mut canvas = Canvas::new(7, 5, [10, 20, 30]);
        canvas.set(3, 2, WHITE);
        let bytes = canvas.to_png().unwrap();
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
        let mut decoded = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut decoded).unwrap();
        assert_eq!(decoded, canvas.pixels());
    }
}
