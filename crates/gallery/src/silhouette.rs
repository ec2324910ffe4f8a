//! The silhouette of an object and its colours, to be composed over a background.

use crate::camera::{Camera, Frame};
use crate::light::Light;
use crate::march::{Body, Ending};
use crate::palette::Colour;
use crate::texture::Coat;

/// A rectangle of pixels with the silhouette of one object.
pub(crate) struct Silhouette {
    pub n_rows: usize,
    pub n_cols: usize,
    /// In [0, 1], row-major. Pixels whose centre the object covers have 1, others less than 1.
    pub coverage: Vec<f32>,
    /// Distance of the surface from the eye; undefined where the coverage is 0.
    depths: Vec<f32>,
}

impl Silhouette {
    pub(crate) fn trace(
        body: &Body,
        camera: &Camera,
        frame: &Frame,
        (n_rows, n_cols): (usize, usize),
    ) -> Self {
        let mut coverage = vec![0.0; n_rows * n_cols];
        let mut depths = vec![0.0; n_rows * n_cols];
        body.trace(camera, frame, n_rows, n_cols, |row, col, ending| {
            let idx = row * n_cols + col;
            (depths[idx], coverage[idx]) = match ending {
                Ending::Hit(depth) => (depth, 1.0),
                // A near miss: the antialiased edge covers a part of the pixel.
                Ending::Miss { nearest, gap } => (nearest, 0.6 * (1.0 - gap).max(0.0)),
            };
        });
        Self { n_rows, n_cols, coverage, depths }
    }

    /// Whether the object covers the centre of a pixel.
    pub(crate) fn is_solid(&self, idx: usize) -> bool {
        self.coverage[idx] >= 1.0
    }

    /// Number of pixels that the object covers.
    pub(crate) fn area_px(&self) -> usize {
        (0..self.coverage.len()).filter(|&idx| self.is_solid(idx)).count()
    }

    /// Linear colours, row-major, for the same body, camera and frame as in [`Silhouette::trace`]; black where the coverage
    /// is 0.
    pub(crate) fn painted(
        &self,
        body: &Body,
        camera: &Camera,
        frame: &Frame,
        coat: &Coat,
        light: &Light,
    ) -> Vec<Colour> {
        let mut colours = vec![Colour::default(); self.coverage.len()];
        for (idx, colour) in colours.iter_mut().enumerate().filter(|(idx, _)| self.coverage[*idx] > 0.0) {
            let (row, col) = (idx / self.n_cols, idx % self.n_cols);
            let (across, above) = frame.plane_from_pixel(row as f32 + 0.5, col as f32 + 0.5);
            let ray = camera.ray(across, above);
            *colour = light.shade(body, coat, camera, ray, camera.eye + ray * self.depths[idx]);
        }
        colours
    }
}
