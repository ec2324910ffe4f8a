//! Cutting a batch into bands of tiles: parts that are convolved on their own, side by side.

use crate::convolution::activations::Activations;

/// About how many tiles a band has: enough for a matrix product to be fast, few enough to stay in the cache.
const TILES_PER_BAND: usize = 112;

/// Some whole images, or some rows of tiles of one image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Band {
    pub first_image: usize,
    pub n_images: usize,
    /// The first row of tiles in each of the images.
    pub first_row: usize,
    pub n_rows: usize,
    /// Tiles in a row.
    pub n_cols: usize,
}

impl Band {
    pub fn n_tiles(&self) -> usize {
        self.n_images * self.n_rows * self.n_cols
    }

    /// Image, row and column of each tile.
    pub fn tiles(&self) -> impl Iterator<Item = (usize, usize, usize)> + use<> {
        let Self { first_image, n_images, first_row, n_rows, n_cols } = *self;
        (first_image..first_image + n_images).flat_map(move |image| {
            (first_row..first_row + n_rows).flat_map(move |row| (0..n_cols).map(move |col| (image, row, col)))
        })
    }
}

/// All bands of a batch, in order.
pub(super) fn bands(n_images: usize, tiles_across: usize, n_threads: usize) -> Vec<Band> {
    let tiles_per_image = tiles_across * tiles_across;
    let whole =
        Band { first_image: 0, n_images: 1, first_row: 0, n_rows: tiles_across, n_cols: tiles_across };
    if tiles_per_image > TILES_PER_BAND {
        let rows_per_band = (TILES_PER_BAND / tiles_across).max(1);
        let firsts = (0..n_images)
            .flat_map(|image| (0..tiles_across).step_by(rows_per_band).map(move |row| (image, row)));
        let band = |(first_image, first_row)| Band {
            first_image,
            first_row,
            n_rows: rows_per_band.min(tiles_across - first_row),
            ..whole
        };
        firsts.map(band).collect()
    } else {
        let images_per_band = (TILES_PER_BAND / tiles_per_image).min(n_images.div_ceil(n_threads)).max(1);
        let firsts = (0..n_images).step_by(images_per_band);
        let band = |first_image| Band {
            first_image,
            n_images: images_per_band.min(n_images - first_image),
            ..whole
        };
        firsts.map(band).collect()
    }
}

/// The part of a batch of activations that one band writes.
pub(super) struct BandOutput<'a> {
    /// Where `numbers` begins in the batch.
    start: usize,
    numbers: &'a mut [f32],
    row_len: usize,
    image_len: usize,
    side_px: usize,
    n_channels: usize,
}

impl<'a> BandOutput<'a> {
    /// Parts of a batch, one for each band, if a tile makes `px_per_tile` rows and columns of it.
    pub fn split(bands: &[Band], batch: &'a mut Activations, px_per_tile: usize) -> Vec<Self> {
        let (row_len, image_len) = (batch.row_len(), batch.image_len());
        let (side_px, n_channels) = (batch.side_px, batch.n_channels);
        let start_of =
            |band: &Band| band.first_image * image_len + (1 + band.first_row * px_per_tile) * row_len;
        let mut rest = batch.used_mut();
        let mut rest_start = 0;
        let ends = bands.iter().skip(1).map(start_of).chain([usize::MAX]);
        bands
            .iter()
            .zip(ends)
            .map(|(band, end)| {
                let start = start_of(band);
                let skipped = std::mem::take(&mut rest);
                let (_, from_start) = skipped.split_at_mut(start - rest_start);
                let (numbers, after) = from_start.split_at_mut((end - start).min(from_start.len()));
                rest = after;
                rest_start = start + numbers.len();
                Self { start, numbers, row_len, image_len, side_px, n_channels }
            })
            .collect()
    }

    /// Eight numbers of a pixel from `channel` on, or nothing if the pixel is beyond the image.
    #[inline(always)]
    pub fn pixel_mut(&mut self, image: usize, row: usize, col: usize, channel: usize) -> Option<&mut [f32]> {
        if row >= self.side_px || col >= self.side_px {
            return None;
        }
        let at = image * self.image_len + (row + 1) * self.row_len + (col + 1) * self.n_channels + channel;
        Some(&mut self.numbers[at - self.start..][..super::winograd_tile::N_LANES])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_cover_every_tile_once_and_in_order() {
        for (n_images, tiles_across) in [(1, 56), (3, 28), (8, 14), (5, 7), (8, 4), (1, 4)] {
            for n_threads in [1, 2, 7] {
                let covered: Vec<_> =
                    bands(n_images, tiles_across, n_threads).iter().flat_map(Band::tiles).collect();
                let whole = Band {
                    first_image: 0,
                    n_images,
                    first_row: 0,
                    n_rows: tiles_across,
                    n_cols: tiles_across,
                };
                assert_eq!(covered, whole.tiles().collect::<Vec<_>>(), "{n_images} of {tiles_across}");
            }
        }
    }
}
