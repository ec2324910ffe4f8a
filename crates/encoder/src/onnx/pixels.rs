//! Converts screens to a model's input: resized, scaled, and with the model's order of axes.

use touchstream_env::screen::Screen;
use touchstream_env::touch::SCREEN_SIDE_PX;

use super::input::ImageInput;
use super::resample::{Tap, bilinear_taps};
use super::settings::{Layout, Preprocessing};
use crate::image_input::ColourScale;

pub struct InputMaker {
    input: ImageInput,
    /// For each row, and each column, of the input: its position on the screen.
    taps: Vec<Tap>,
    scale: ColourScale,
}

impl InputMaker {
    pub fn new(input: ImageInput, preprocessing: &Preprocessing) -> Self {
        Self {
            taps: bilinear_taps(SCREEN_SIDE_PX, input.side_px),
            input,
            scale: ColourScale::new(preprocessing.mean, preprocessing.std),
        }
    }

    pub fn shape(&self) -> [usize; 4] {
        self.input.shape()
    }

    pub fn input(&self) -> &ImageInput {
        &self.input
    }

    /// The input for one screen, of [`shape`](Self::shape).
    pub fn input_from_screen(&self, screen: &Screen) -> Vec<f32> {
        let side_px = self.taps.len();
        let mut input = vec![0.0; 3 * side_px * side_px];
        let (pixel_stride, colour_stride) = match self.input.layout {
            Layout::Nchw => (1, side_px * side_px),
            Layout::Nhwc => (3, 1),
        };
        let row_from_screen = |row: usize| &screen.pixels()[row * SCREEN_SIDE_PX * 3..][..SCREEN_SIDE_PX * 3];
        for (row, row_tap) in self.taps.iter().enumerate() {
            let (above, below) = (row_from_screen(row_tap.low), row_from_screen(row_tap.high));
            for (col, col_tap) in self.taps.iter().enumerate() {
                for colour in 0..3 {
                    let (left, right) = (col_tap.low * 3 + colour, col_tap.high * 3 + colour);
                    let at_row = |row: &[u8]| col_tap.between(f32::from(row[left]), f32::from(row[right]));
                    let byte = row_tap.between(at_row(above), at_row(below));
                    input[(row * side_px + col) * pixel_stride + colour * colour_stride] =
                        self.scale.apply(colour, byte);
                }
            }
        }
        input
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn screen() -> Screen {
        let mut screen = Screen::grey();
        for (idx, byte) in screen.pixels_mut().iter_mut().enumerate() {
            let (row, col, colour) = (idx / 3 / SCREEN_SIDE_PX, idx / 3 % SCREEN_SIDE_PX, idx % 3);
            *byte = ((7 * row + 13 * col + 29 * colour) % 256) as u8;
        }
        screen
    }

    #[test]
    fn every_pixel_is_scaled_and_placed() {
        let preprocessing = Preprocessing::default();
        for layout in [Layout::Nchw, Layout::Nhwc] {
            let image = ImageInput { name: "x".to_owned(), layout, side_px: SCREEN_SIDE_PX };
            let input = InputMaker::new(image, &preprocessing).input_from_screen(&screen());
            for (row, col, colour) in [(0, 0, 0), (3, 200, 1), (223, 5, 2), (100, 223, 0)] {
                let at = match layout {
                    Layout::Nchw => (colour * 224 + row) * 224 + col,
                    Layout::Nhwc => (row * 224 + col) * 3 + colour,
                };
                let byte = ((7 * row + 13 * col + 29 * colour) % 256) as f32;
                let expected = (byte / 255.0 - preprocessing.mean[colour]) / preprocessing.std[colour];
                assert!((input[at] - expected).abs() < 1e-5, "{layout:?} {row} {col} {colour}");
            }
        }
    }

    #[test]
    fn a_smaller_input_is_the_screen_resized() {
        let plain = Preprocessing { mean: [0.0; 3], std: [1.0 / 255.0; 3], layout: None };
        let image = ImageInput { name: "x".to_owned(), layout: Layout::Nhwc, side_px: SCREEN_SIDE_PX / 2 };
        let screen = screen();
        let input = InputMaker::new(image, &plain).input_from_screen(&screen);
        // Half the side: every input pixel is the mean of four.
        let byte = |row: usize, col: usize| f32::from(screen.pixels()[(row * SCREEN_SIDE_PX + col) * 3 + 2]);
        let mean = (byte(20, 40) + byte(20, 41) + byte(21, 40) + byte(21, 41)) / 4.0;
        assert!((input[(10 * 112 + 20) * 3 + 2] - mean).abs() < 1e-3);
    }
}
