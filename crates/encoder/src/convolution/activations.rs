//! Activations of a batch of images, with the zero padding that 3 x 3 convolutions read.

use crate::arithmetic::AlignedFloats;

/// Rows and columns of the outputs of one Winograd tile.
pub(crate) const TILE_SIDE: usize = 4;

/// `[n_images, stride_px, stride_px, n_channels]`. The pixel (row, column) is stored at (row + 1, column + 1);
/// everything around the image is 0, up to the end of the last tile's inputs.
#[derive(Default)]
pub(crate) struct Activations {
    pub n_images: usize,
    /// Rows and columns of an image without padding.
    pub side_px: usize,
    pub n_channels: usize,
    pub floats: AlignedFloats,
}

impl Activations {
    /// Changes the shape, keeping the memory. Padding becomes 0; the other values are unspecified.
    pub fn reshape(&mut self, n_images: usize, side_px: usize, n_channels: usize) {
        *self = Self { n_images, side_px, n_channels, floats: std::mem::take(&mut self.floats) };
        let (row_len, image_len) = (self.row_len(), self.image_len());
        for image in self.floats.grown(n_images * image_len).chunks_exact_mut(image_len) {
            let (top, rest) = image.split_at_mut(row_len);
            let (inside, bottom) = rest.split_at_mut(side_px * row_len);
            top.fill(0.0);
            bottom.fill(0.0);
            for row in inside.chunks_exact_mut(row_len) {
                row[..n_channels].fill(0.0);
                row[(side_px + 1) * n_channels..].fill(0.0);
            }
        }
    }

    /// Copies a single image, with padding, to index `at` of a batch of `n_images`. Index 0 must be set first.
    pub fn set_image(&mut self, at: usize, n_images: usize, image: &Self) {
        let len = image.image_len();
        let Self { side_px, n_channels, .. } = *image;
        *self = Self { n_images, side_px, n_channels, floats: std::mem::take(&mut self.floats) };
        self.floats.grown(n_images * len)[at * len..][..len].copy_from_slice(&image.used()[..len]);
    }

    /// Number of tiles per row, and per column, of an image.
    pub fn tiles_across(&self) -> usize {
        self.side_px.div_ceil(TILE_SIDE)
    }

    /// Floats per row, including padding.
    pub fn row_len(&self) -> usize {
        self.stride_px() * self.n_channels
    }

    /// Floats per image, including padding.
    pub fn image_len(&self) -> usize {
        self.stride_px() * self.row_len()
    }

    pub fn used(&self) -> &[f32] {
        &self.floats.as_slice()[..self.n_images * self.image_len()]
    }

    pub fn used_mut(&mut self) -> &mut [f32] {
        let len = self.n_images * self.image_len();
        &mut self.floats.as_mut_slice()[..len]
    }

    /// The rows of one image without padding, `[side_px, n_channels]` each.
    pub fn rows(&self, image: usize) -> impl Iterator<Item = &[f32]> {
        let (row_len, n_channels, side_px) = (self.row_len(), self.n_channels, self.side_px);
        let image = &self.used()[image * self.image_len()..][..self.image_len()];
        let rows = image.chunks_exact(row_len).skip(1).take(side_px);
        rows.map(move |row| &row[n_channels..(side_px + 1) * n_channels])
    }

    fn stride_px(&self) -> usize {
        self.tiles_across() * TILE_SIDE + 2
    }
}
