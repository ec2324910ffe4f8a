//! Converts a node's values to a spatial map of 14 x 14 positions.

use super::resample::bilinear_taps;
use super::settings::Layout;
use crate::encoder::MAP_SIDE;

/// Number of tokens before those of positions: none, a class token, or a class token and four registers.
const TOKENS_BEFORE: [usize; 3] = [0, 1, 5];

/// The layout of positions and channels in a node's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpatialValues {
    /// Number of rows, and of columns, at least 2.
    pub side: usize,
    pub channels: usize,
    offset: usize,
    place_stride: usize,
    channel_stride: usize,
}

impl SpatialValues {
    /// The layout of values with this shape, if it can be a map. `[1, 14, 14, 14]` is ambiguous; it is assumed to have
    /// the order of axes of the model's input.
    pub fn from_shape(shape: &[usize], input_layout: Layout) -> Option<Self> {
        match *shape {
            [1, a, b, c] => {
                let channels_first = (b == c).then(|| Self::channels_first(b, a));
                let channels_last = (a == b).then(|| Self::channels_last(a, c, 0));
                match input_layout {
                    Layout::Nchw => channels_first.or(channels_last),
                    Layout::Nhwc => channels_last.or(channels_first),
                }
            }
            [1, n_tokens, channels] => TOKENS_BEFORE.into_iter().find_map(|n_before| {
                let n_places = n_tokens.checked_sub(n_before)?;
                let side = n_places.isqrt();
                (side >= 2 && side * side == n_places).then(|| Self::channels_last(side, channels, n_before))
            }),
            _ => None,
        }
        .filter(|values| values.side >= 2 && values.channels > 0)
    }

    fn channels_first(side: usize, channels: usize) -> Self {
        Self { side, channels, offset: 0, place_stride: 1, channel_stride: side * side }
    }

    fn channels_last(side: usize, channels: usize, n_before: usize) -> Self {
        Self { side, channels, offset: n_before * channels, place_stride: channels, channel_stride: 1 }
    }

    /// Writes `[14, 14, channels]`: unchanged, or the mean of each block if the side is a multiple of 14, otherwise by
    /// bilinear interpolation.
    pub fn write_map(&self, values: &[f32], map: &mut [f32]) {
        if self.side.is_multiple_of(MAP_SIDE) {
            self.write_block_means(values, map);
        } else {
            self.write_bilinear(values, map);
        }
    }

    fn at(&self, values: &[f32], row: usize, col: usize, channel: usize) -> f32 {
        values[self.offset + (row * self.side + col) * self.place_stride + channel * self.channel_stride]
    }

    fn write_block_means(&self, values: &[f32], map: &mut [f32]) {
        let block = self.side / MAP_SIDE;
        let share = 1.0 / (block * block) as f32;
        for (place, out) in map.chunks_exact_mut(self.channels).enumerate() {
            let (top, left) = (place / MAP_SIDE * block, place % MAP_SIDE * block);
            for (channel, out) in out.iter_mut().enumerate() {
                let places = (0..block * block).map(|idx| (top + idx / block, left + idx % block));
                *out = places.map(|(row, col)| self.at(values, row, col, channel)).sum::<f32>() * share;
            }
        }
    }

    fn write_bilinear(&self, values: &[f32], map: &mut [f32]) {
        let taps = bilinear_taps(self.side, MAP_SIDE);
        for (place, out) in map.chunks_exact_mut(self.channels).enumerate() {
            let (row, col) = (taps[place / MAP_SIDE], taps[place % MAP_SIDE]);
            for (channel, out) in out.iter_mut().enumerate() {
                let at_row = |row| {
                    col.between(
                        self.at(values, row, col.low, channel),
                        self.at(values, row, col.high, channel),
                    )
                };
                *out = row.between(at_row(row.low), at_row(row.high));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(shape: &[usize], layout: Layout, expected: Option<(usize, usize, usize)>) {
        let found = SpatialValues::from_shape(shape, layout);
        assert_eq!(found.map(|values| (values.side, values.channels, values.offset)), expected, "{shape:?}");
    }

    #[test]
    fn map_layouts_follow_from_shapes() {
        check(&[1, 512, 14, 14], Layout::Nchw, Some((14, 512, 0)));
        check(&[1, 14, 14, 512], Layout::Nchw, Some((14, 512, 0)));
        check(&[1, 7, 7, 32], Layout::Nhwc, Some((7, 32, 0)));
        check(&[1, 197, 384], Layout::Nchw, Some((14, 384, 384)));
        check(&[1, 196, 384], Layout::Nchw, Some((14, 384, 0)));
        check(&[1, 261, 384], Layout::Nchw, Some((16, 384, 5 * 384)));
        for none in [&[1, 1000][..], &[1, 512, 1, 1], &[1, 512, 14, 7], &[1, 198, 4], &[2, 512, 14, 14], &[]]
        {
            check(none, Layout::Nchw, None);
        }
        let strides =
            |layout| SpatialValues::from_shape(&[1, 14, 14, 14], layout).map(|values| values.channel_stride);
        assert_eq!((strides(Layout::Nchw), strides(Layout::Nhwc)), (Some(196), Some(1)));
    }

    #[test]
    fn a_map_of_side_14_is_unchanged() {
        let values: Vec<f32> = (0..3 * 196).map(|value| value as f32).collect();
        let mut map = vec![0.0; values.len()];
        SpatialValues::channels_first(14, 3).write_map(&values, &mut map);
        assert_eq!((map[0], map[1], map[2], map[3]), (0.0, 196.0, 392.0, 1.0));
        assert_eq!(map[3 * 195 + 2], 392.0 + 195.0);
        SpatialValues::channels_last(14, 3, 0).write_map(&values, &mut map);
        assert_eq!(map, values);
    }

    #[test]
    fn other_sides_are_resampled() {
        // One channel whose value is the row, with twice as many rows: each output is the mean of rows 2r and 2r + 1.
        let values: Vec<f32> = (0..28 * 28).map(|place| (place / 28) as f32).collect();
        let mut map = vec![0.0; 196];
        SpatialValues::channels_first(28, 1).write_map(&values, &mut map);
        assert!((0..196).all(|place| map[place] == (place / 14 * 2) as f32 + 0.5));
        // With half as many rows: outputs are a quarter of the way between two rows, and unchanged at the edge.
        let values: Vec<f32> =
            (0..1 + 49).map(|place| if place == 0 { 99.0 } else { ((place - 1) % 7) as f32 }).collect();
        SpatialValues::channels_last(7, 1, 1).write_map(&values, &mut map);
        assert_eq!(&map[..4], &[0.0, 0.25, 0.75, 1.25]);
        assert_eq!(map[195], 6.0);
    }
}
