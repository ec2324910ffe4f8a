//! Cutting a batch into bands of tiles: parts that are convolved on their own, side by side.

use crate::convolution::activations::Activations;
use crate::convolution::winograd_tile::{Lanes, N_LANES};

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

/// The part of a batch of activations that one band writes. Channels are counted in eights.
pub(super) struct BandOutput<'a> {
    /// Where `numbers` begins in the batch.
    start: usize,
    numbers: &'a mut [Lanes],
    pixel_len: usize,
    row_len: usize,
    image_len: usize,
    side_px: usize,
}

/// A square of one image's pixels, eight channels of it.
pub(super) struct Square<'a, const SIDE: usize> {
    pub image: usize,
    /// Row of its first pixel.
    pub top: usize,
    /// Column of its first pixel.
    pub left: usize,
    /// Which eight channels.
    pub channels: usize,
    pub lanes: &'a [[Lanes; SIDE]; SIDE],
}

impl<'a> BandOutput<'a> {
    /// Parts of a batch, one for each band, if a tile makes `px_per_tile` rows and columns of it.
    pub fn split(bands: &[Band], batch: &'a mut Activations, px_per_tile: usize) -> Vec<Self> {
        let pixel_len = batch.n_channels / N_LANES;
        let (row_len, image_len) = (batch.row_len() / N_LANES, batch.image_len() / N_LANES);
        let side_px = batch.side_px;
        let start_of =
            |band: &Band| band.first_image * image_len + (1 + band.first_row * px_per_tile) * row_len;
        let ends = bands.iter().skip(1).map(start_of).chain([usize::MAX]);
        let mut rest = batch.used_mut().as_chunks_mut::<N_LANES>().0;
        let mut rest_start = 0;
        let part = |(band, end): (&Band, usize)| {
            let start = start_of(band);
            let (_, from_start) = std::mem::take(&mut rest).split_at_mut(start - rest_start);
            let n = (end - start).min(from_start.len());
            let (numbers, after) = from_start.split_at_mut(n);
            (rest, rest_start) = (after, start + n);
            Self { start, numbers, pixel_len, row_len, image_len, side_px }
        };
        bands.iter().zip(ends).map(part).collect()
    }

    /// Writes what of a square is inside the image.
    #[inline(always)]
    pub fn write<const SIDE: usize>(&mut self, square: Square<SIDE>) {
        let Square { image, top, left, channels, lanes } = square;
        for (row, line) in (top..self.side_px).zip(lanes) {
            let at =
                image * self.image_len + (row + 1) * self.row_len + (left + 1) * self.pixel_len + channels;
            let numbers = &mut self.numbers[at - self.start..];
            for (col, lanes) in (0..self.side_px - left).zip(line) {
                numbers[col * self.pixel_len] = *lanes;
            }
        }
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
