//! Composes objects over a background and over each other.

use crate::palette::{Colour, byte_from_light};
use crate::silhouette::Silhouette;
use touchstream_env::mask::Mask;
use touchstream_env::screen::SCREEN_BYTES;
use touchstream_env::touch::{N_TOUCHES, SCREEN_SIDE_PX};

const NO_OWNER: u8 = u8::MAX;

/// Row and column on the screen of a silhouette's first pixel.
pub(crate) type PixelPos = (usize, usize);

/// Which object is visible at each pixel, `[224, 224]`; objects are numbered from back to front.
pub(crate) struct Occupancy {
    owners: Vec<u8>,
    /// Number of visible pixels of each object.
    visible_px: Vec<usize>,
    /// Number of pixels of each object, including hidden ones.
    laid_px: Vec<usize>,
}

impl Occupancy {
    pub(crate) fn empty() -> Self {
        Self { owners: vec![NO_OWNER; N_TOUCHES], visible_px: Vec::new(), laid_px: Vec::new() }
    }

    /// Whether every object so far would keep `least_px` visible pixels, and two fifths of its own, with another object on
    /// top.
    pub(crate) fn leaves_visible(&self, silhouette: &Silhouette, place: PixelPos, least_px: usize) -> bool {
        let mut visible_px = self.visible_px.clone();
        for_each_pixel(silhouette, place, |idx, own_idx| {
            if silhouette.is_solid(own_idx) && self.owners[idx] != NO_OWNER {
                visible_px[usize::from(self.owners[idx])] -= 1;
            }
        });
        let mut counts = visible_px.iter().zip(&self.laid_px);
        counts.all(|(&visible, &laid)| visible >= least_px && visible * 5 >= laid * 2)
    }

    /// Adds an object on top.
    pub(crate) fn lay(&mut self, silhouette: &Silhouette, place: PixelPos) {
        let owner = self.visible_px.len() as u8;
        self.visible_px.push(0);
        self.laid_px.push(silhouette.area_px());
        for_each_pixel(silhouette, place, |idx, own_idx| {
            if silhouette.is_solid(own_idx) {
                if let Some(count) = self.visible_px.get_mut(usize::from(self.owners[idx])) {
                    *count -= 1;
                }
                self.owners[idx] = owner;
                self.visible_px[usize::from(owner)] += 1;
            }
        });
    }

    pub(crate) fn masks(&self) -> Vec<Mask> {
        let mask_of =
            |object| Mask::from_fn(|row, col| usize::from(self.owners[row * SCREEN_SIDE_PX + col]) == object);
        (0..self.visible_px.len()).map(mask_of).collect()
    }
}

/// An image in progress, `[224, 224]` linear colours.
pub(crate) struct Canvas {
    colours: Vec<Colour>,
}

impl Canvas {
    pub(crate) fn new(background: Vec<Colour>) -> Self {
        Self { colours: background }
    }

    /// Darkens the ground under an object: a soft ellipse around (`row_px`, `col_px`).
    pub(crate) fn cast_shadow(&mut self, (row_px, col_px): (f32, f32), half_width_px: f32, strength: f32) {
        let half_height_px = half_width_px * 0.3;
        for (idx, colour) in self.colours.iter_mut().enumerate() {
            let dy = ((idx / SCREEN_SIDE_PX) as f32 - row_px) / half_height_px;
            let dx = ((idx % SCREEN_SIDE_PX) as f32 - col_px) / half_width_px;
            let depth = (1.0 - (dx * dx + dy * dy)).max(0.0);
            *colour = *colour * (1.0 - strength * depth);
        }
    }

    /// Adds a painted object on top.
    pub(crate) fn lay(&mut self, silhouette: &Silhouette, colours: &[Colour], place: PixelPos) {
        for_each_pixel(silhouette, place, |idx, own_idx| {
            let under = self.colours[idx];
            self.colours[idx] = under + (colours[own_idx] - under) * silhouette.coverage[own_idx];
        });
    }

    /// The finished image, `[224, 224, RGB]`.
    pub(crate) fn pixels(&self) -> Box<[u8]> {
        let mut pixels = Vec::with_capacity(SCREEN_BYTES);
        for colour in &self.colours {
            pixels.extend([colour.x, colour.y, colour.z].map(byte_from_light));
        }
        pixels.into_boxed_slice()
    }
}

/// Calls `paint(pixel of the screen, pixel of the silhouette)` for every pixel of the object that is on the screen.
fn for_each_pixel(silhouette: &Silhouette, (top, left): PixelPos, mut paint: impl FnMut(usize, usize)) {
    for row in 0..silhouette.n_rows.min(SCREEN_SIDE_PX.saturating_sub(top)) {
        for col in 0..silhouette.n_cols.min(SCREEN_SIDE_PX.saturating_sub(left)) {
            let own_idx = row * silhouette.n_cols + col;
            if silhouette.coverage[own_idx] > 0.0 {
                paint((top + row) * SCREEN_SIDE_PX + left + col, own_idx);
            }
        }
    }
}
