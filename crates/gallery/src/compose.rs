//! Laying things over a background and over each other.

use crate::palette::{Colour, byte_from_light};
use crate::silhouette::Silhouette;
use touchstream_env::mask::Mask;
use touchstream_env::screen::SCREEN_BYTES;
use touchstream_env::touch::{N_TOUCHES, SCREEN_SIDE_PX};

const NOBODY: u8 = u8::MAX;

/// The row and the column on the screen where a silhouette's first pixel lands.
pub(crate) type Place = (usize, usize);

/// Who is seen where, `[224, 224]`, things counted in the order of laying.
pub(crate) struct Occupancy {
    owners: Vec<u8>,
    /// Visible pixels of each thing.
    visible_px: Vec<usize>,
    /// Pixels of each thing when it was laid.
    laid_px: Vec<usize>,
}

impl Occupancy {
    pub(crate) fn empty() -> Self {
        Self { owners: vec![NOBODY; N_TOUCHES], visible_px: Vec::new(), laid_px: Vec::new() }
    }

    /// Whether everything laid so far keeps `least_px` visible pixels, and two fifths of its own, when another
    /// thing comes on top.
    pub(crate) fn leaves_visible(&self, silhouette: &Silhouette, place: Place, least_px: usize) -> bool {
        let mut visible_px = self.visible_px.clone();
        for_each_pixel(silhouette, place, |idx, own_idx| {
            if silhouette.is_solid(own_idx) && self.owners[idx] != NOBODY {
                visible_px[usize::from(self.owners[idx])] -= 1;
            }
        });
        let mut counts = visible_px.iter().zip(&self.laid_px);
        counts.all(|(&visible, &laid)| visible >= least_px && visible * 5 >= laid * 2)
    }

    /// Lays a thing on top.
    pub(crate) fn lay(&mut self, silhouette: &Silhouette, place: Place) {
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

    /// The visible pixels of each thing.
    pub(crate) fn masks(&self) -> Vec<Mask> {
        (0..self.visible_px.len())
            .map(|thing| {
                Mask::from_fn(|row, col| usize::from(self.owners[row * SCREEN_SIDE_PX + col]) == thing)
            })
            .collect()
    }
}

/// A picture in the making, `[224, 224]` linear colours.
pub(crate) struct Canvas {
    colours: Vec<Colour>,
}

impl Canvas {
    pub(crate) fn new(background: Vec<Colour>) -> Self {
        Self { colours: background }
    }

    /// Darkens the ground where a thing stands: a soft ellipse around (`row_px`, `col_px`).
    pub(crate) fn cast_shadow(&mut self, (row_px, col_px): (f32, f32), half_width_px: f32, strength: f32) {
        let half_height_px = half_width_px * 0.3;
        for (idx, colour) in self.colours.iter_mut().enumerate() {
            let dy = ((idx / SCREEN_SIDE_PX) as f32 - row_px) / half_height_px;
            let dx = ((idx % SCREEN_SIDE_PX) as f32 - col_px) / half_width_px;
            let depth = (1.0 - (dx * dx + dy * dy)).max(0.0);
            *colour = *colour * (1.0 - strength * depth);
        }
    }

    /// Lays a painted thing on top.
    pub(crate) fn lay(&mut self, silhouette: &Silhouette, colours: &[Colour], place: Place) {
        for_each_pixel(silhouette, place, |idx, own_idx| {
            let under = self.colours[idx];
            self.colours[idx] = under + (colours[own_idx] - under) * silhouette.coverage[own_idx];
        });
    }

    /// The finished picture, `[224, 224, 3]`.
    pub(crate) fn pixels(&self) -> Box<[u8]> {
        let mut pixels = Vec::with_capacity(SCREEN_BYTES);
        for colour in &self.colours {
            pixels.extend([colour.x, colour.y, colour.z].map(byte_from_light));
        }
        pixels.into_boxed_slice()
    }
}

/// Calls `paint(pixel of the screen, pixel of the silhouette)` wherever the thing is on the screen.
fn for_each_pixel(silhouette: &Silhouette, (top, left): Place, mut paint: impl FnMut(usize, usize)) {
    for row in 0..silhouette.n_rows.min(SCREEN_SIDE_PX.saturating_sub(top)) {
        for col in 0..silhouette.n_cols.min(SCREEN_SIDE_PX.saturating_sub(left)) {
            let own_idx = row * silhouette.n_cols + col;
            if silhouette.coverage[own_idx] > 0.0 {
                paint((top + row) * SCREEN_SIDE_PX + left + col, own_idx);
            }
        }
    }
}
