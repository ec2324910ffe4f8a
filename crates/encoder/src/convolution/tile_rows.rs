//! Rows of tiles: the parts of a convolution's output that threads write independently.

use crate::arithmetic::{F32x16, N_LANES};
use crate::convolution::activations::{Activations, TILE_SIDE};

/// The destination of one row of tiles of one image.
pub(super) struct TileRow<'a> {
    pub full: Option<OutputRows<'a>>,
    pub pooled: Option<OutputRows<'a>>,
}

/// The rows of output pixels of one row of tiles.
pub(super) struct OutputRows<'a> {
    /// With padding left and right.
    floats: &'a mut [f32],
    /// Number of rows inside the image.
    n_rows: usize,
    side_px: usize,
    n_channels: usize,
}

impl<'a> OutputRows<'a> {
    /// Splits a batch of outputs by rows of tiles, in order. A tile makes `px_per_tile` rows and columns.
    pub fn split(
        output: &'a mut Activations,
        tiles_across: usize,
        px_per_tile: usize,
    ) -> impl Iterator<Item = Self> {
        let (side_px, n_channels) = (output.side_px, output.n_channels);
        let (row_len, image_len) = (output.row_len(), output.image_len());
        output.used_mut().chunks_exact_mut(image_len).flat_map(move |image| {
            let rows = image[row_len..].chunks_exact_mut(px_per_tile * row_len).take(tiles_across);
            rows.enumerate().map(move |(row, floats)| Self {
                floats,
                n_rows: px_per_tile.min(side_px - row * px_per_tile),
                side_px,
                n_channels,
            })
        })
    }

    /// Stores sixteen channels of a tile, except pixels outside the image.
    #[inline(always)]
    pub fn store<F: F32x16, const SIDE: usize>(
        &mut self,
        tile_col: usize,
        group: usize,
        tile: &[[F; SIDE]; SIDE],
    ) {
        let (left, pixel_len) = (tile_col * SIDE, self.n_channels / N_LANES);
        let n_cols = SIDE.min(self.side_px - left);
        let vectors = self.floats.as_chunks_mut::<N_LANES>().0;
        let row_len = vectors.len() / SIDE;
        for (row, line) in tile.iter().enumerate() {
            if row >= self.n_rows {
                return;
            }
            let pixels = &mut vectors[row * row_len + (left + 1) * pixel_len + group..];
            for (col, x) in line.iter().enumerate() {
                if col < n_cols {
                    x.store(&mut pixels[col * pixel_len]);
                }
            }
        }
    }
}

/// The requested outputs of a convolution; each is reshaped to fit.
pub(crate) struct Outputs<'a> {
    /// Before pooling.
    pub full: Option<&'a mut Activations>,
    /// Maxima over 2 x 2 pixels.
    pub pooled: Option<&'a mut Activations>,
}

impl<'a> Outputs<'a> {
    pub fn only(pooled: bool, out: &'a mut Activations) -> Self {
        if pooled { Self { full: None, pooled: Some(out) } } else { Self { full: Some(out), pooled: None } }
    }

    /// Reshapes the outputs for a batch and splits them by rows of tiles.
    pub(super) fn tile_rows(self, input: &Activations, n_out: usize) -> Vec<TileRow<'a>> {
        let (n_images, across) = (input.n_images, input.tiles_across());
        let split = |output: Option<&'a mut Activations>, px_per_tile: usize| {
            let rows = output.map(|output| {
                output.reshape(n_images, input.side_px * px_per_tile / TILE_SIDE, n_out);
                OutputRows::split(output, across, px_per_tile)
            });
            let mut rows = rows.into_iter().flatten();
            (0..n_images * across).map(move |_| rows.next())
        };
        let (full, pooled) = (split(self.full, TILE_SIDE), split(self.pooled, TILE_SIDE / 2));
        full.zip(pooled).map(|(full, pooled)| TileRow { full, pooled }).collect()
    }
}
