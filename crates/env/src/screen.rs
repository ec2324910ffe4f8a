//! Screens and templates as RGB pixels.

use crate::touch::{N_TOUCHES, SCREEN_SIDE_PX};

/// Bytes of one screen, `[224 rows, 224 columns, RGB]`.
pub const SCREEN_BYTES: usize = N_TOUCHES * 3;

/// The grey around templates. The paper does not give one; we use mid grey.
pub const BACKGROUND_GREY: u8 = 128;

/// An RGB image of 224 x 224 pixels, row-major, three bytes per pixel.
#[derive(Clone, PartialEq, Eq)]
pub struct Screen {
    pixels: Box<[u8]>,
}

impl Screen {
    /// A screen of mid grey.
    pub fn grey() -> Self {
        Self { pixels: vec![BACKGROUND_GREY; SCREEN_BYTES].into_boxed_slice() }
    }

    /// All bytes, `[224, 224, RGB]`.
    pub fn pixels(&self) -> &[u8] {
        &self.pixels
    }

    /// All bytes, `[224, 224, RGB]`, mutable.
    pub fn pixels_mut(&mut self) -> &mut [u8] {
        &mut self.pixels
    }

    /// Overwrites the screen with an image of `SCREEN_BYTES` bytes.
    pub fn copy_from(&mut self, pixels: &[u8]) {
        self.pixels.copy_from_slice(pixels);
    }

    /// Fills the screen with mid grey.
    pub fn clear(&mut self) {
        self.pixels.fill(BACKGROUND_GREY);
    }

    /// Copies a template so that its top left pixel is at (`top`, `left`). Panics if it does not fit.
    pub fn paste(&mut self, template: &Template, top: usize, left: usize) {
        let row_bytes = template.side_px * 3;
        assert!(
            top + template.side_px <= SCREEN_SIDE_PX && left + template.side_px <= SCREEN_SIDE_PX,
            "a {side}x{side} template at row {top}, col {left} leaves the screen",
            side = template.side_px,
        );
        let rows = self.pixels.chunks_exact_mut(SCREEN_SIDE_PX * 3).skip(top);
        for (row, template_row) in rows.zip(template.rows()) {
            row[left * 3..left * 3 + row_bytes].copy_from_slice(template_row);
        }
    }
}

impl std::fmt::Debug for Screen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mean = self.pixels.iter().map(|&byte| u64::from(byte)).sum::<u64>() / SCREEN_BYTES as u64;
        write!(f, "Screen {{ mean byte {mean} }}")
    }
}

/// A small square RGB image that represents a class on match screens (the paper's "button").
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    side_px: usize,
    pixels: Box<[u8]>,
}

impl Template {
    /// A template from `[side_px, side_px, RGB]` bytes. Panics if `pixels` has another length.
    pub fn new(side_px: usize, pixels: Box<[u8]>) -> Self {
        assert_eq!(pixels.len(), side_px * side_px * 3, "bytes of a {side_px}x{side_px} RGB template");
        Self { side_px, pixels }
    }

    /// Height and width in pixels.
    pub fn side_px(&self) -> usize {
        self.side_px
    }

    /// The rows from the top, `[side_px, RGB]` bytes each.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.pixels.chunks_exact((self.side_px * 3).max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pasted_template_covers_exactly_its_square() {
        let template = Template::new(3, vec![7; 27].into_boxed_slice());
        let mut screen = Screen::grey();
        screen.paste(&template, 10, 221);
        for row in 0..SCREEN_SIDE_PX {
            for col in 0..SCREEN_SIDE_PX {
                let inside = (10..13).contains(&row) && (221..224).contains(&col);
                let pixel = &screen.pixels()[(row * SCREEN_SIDE_PX + col) * 3..][..3];
                assert_eq!(pixel, [if inside { 7 } else { BACKGROUND_GREY }; 3], "row {row} col {col}");
            }
        }
    }

    #[test]
    #[should_panic(expected = "leaves the screen")]
    fn a_template_over_the_edge_is_refused() {
        Screen::grey().paste(&Template::new(2, vec![0; 12].into_boxed_slice()), 223, 0);
    }
}
