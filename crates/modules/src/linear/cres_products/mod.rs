//! Products of layers that read CReS. Two of its four outputs are always 0; their weights are skipped. The outputs are
//! never stored: the sign of a pre-activation selects the weights.
//!
//! Weights are laid out as `[n_channels, 4, n_units]`, the four parts in the order `relu(x), relu(-x), relu(x)^2,
//! relu(-x)^2`. Units are computed in passes of `N` blocks of 16, known at compile time, so that their accumulators stay
//! in registers. Where units do not fill their blocks, weights and rows are copied into blocks that end with zeros.

mod gradient;
mod products;
mod slopes;
#[cfg(test)]
mod tests;

pub(crate) use gradient::give_cres_gradient;
pub(crate) use products::add_cres_products;
pub(crate) use slopes::set_cres_slopes;

use crate::arithmetic::{Arithmetic, Block, N_BLOCK, N_LANES};
use crate::nonlinearity::Nonlinearity;
use std::ops::Range;

/// Outputs of CReS per unit.
pub(crate) const PARTS: usize = 4;
/// Channels whose weights stay in the first-level cache while rows read them: a vector of pre-activations.
const NEAR_CHANNELS: usize = N_LANES;
/// Channels whose weights stay in the second-level cache while all rows read them.
const FAR_CHANNELS: usize = 128;
/// Channels that are fetched before rows read them.
const CHANNELS_AHEAD: usize = 64;
/// Rows whose units stay in the first-level cache, and whose signs fit into the bits of a word.
const ROWS: usize = u32::BITS as usize;

/// Whether these kernels compute the products of a layer that reads `nonlinearity`.
pub(crate) fn is_readable(nonlinearity: Option<Nonlinearity>) -> bool {
    nonlinearity == Some(Nonlinearity::Cres)
}

/// Fetches what a row has for channels that are read later: rows of flattened maps are so far apart that processors do
/// not fetch them by themselves.
#[inline(always)]
fn expect_channels<A: Arithmetic>(row: &[f32], channel: usize) {
    A::prefetch(row.get(channel + CHANNELS_AHEAD..channel + CHANNELS_AHEAD + 1).unwrap_or_default());
}

/// The column, among the outputs of CReS part by part, of row `idx` of the weights, which are laid out channel by
/// channel.
pub(crate) fn column_of(idx: usize, n_channels: usize) -> usize {
    idx % PARTS * n_channels + idx / PARTS
}

/// Starts at a cache line.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Aligned<T>(T);

/// Rows of some units.
type Rows<const N: usize> = [[Block; N]; ROWS];

/// Something done for some units.
trait Pass<A: Arithmetic> {
    /// The units fill `N` blocks, but for the last ones.
    fn run<const N: usize>(&mut self, units: Range<usize>);
}

/// Does it for all units. The passes depend on their number alone: so do sums over units.
#[inline(always)]
fn pass_over<A: Arithmetic>(n_units: usize, pass: &mut impl Pass<A>) {
    const WIDEST: usize = 8;
    for units in ranges(0..n_units, WIDEST * N_BLOCK) {
        match units.len().div_ceil(N_BLOCK) {
            ..=2 => pass.run::<2>(units),
            3..=4 => pass.run::<4>(units),
            5.. => pass.run::<WIDEST>(units),
        }
    }
}

/// The weights of a layer, `[n_channels, 4, n_units]`.
#[derive(Clone, Copy)]
struct ChannelWeights<'a> {
    numbers: &'a [f32],
    n_units: usize,
}

impl<'a> ChannelWeights<'a> {
    fn n_channels(&self) -> usize {
        self.numbers.len() / (PARTS * self.n_units)
    }

    /// Those of a range of channels, as far as there are any.
    fn channels(&self, channels: Range<usize>) -> &'a [f32] {
        let end = |channel: usize| (channel * PARTS * self.n_units).min(self.numbers.len());
        &self.numbers[end(channels.start)..end(channels.end)]
    }

    /// The weights of some units for [`NEAR_CHANNELS`]: where they are, if a pass covers all units, or else a copy. What
    /// stands for channels after the last is multiplied by 0.
    #[inline(always)]
    fn near<'b, const N: usize>(
        &self,
        channels: Range<usize>,
        units: Range<usize>,
        copied: &'b mut Aligned<NearWeights<N>>,
    ) -> &'b NearWeights<N>
    where
        'a: 'b,
    {
        let near = self.channels(channels);
        let blocks = near.as_chunks().0.as_chunks().0.as_chunks().0;
        if let (true, Some(blocks)) = (self.n_units == N * N_BLOCK, blocks.first_chunk()) {
            return blocks;
        }
        for (part, copied) in near.chunks_exact(self.n_units).zip(copied.0.as_flattened_mut()) {
            copy_padded(&part[units.clone()], copied);
        }
        &copied.0
    }
}

/// The weights of some units.
type NearWeights<const N: usize> = [[[Block; N]; PARTS]; NEAR_CHANNELS];

/// Copies numbers into blocks; what follows them is left as it is. By blocks: calls of `memcpy` would take longer.
#[inline(always)]
fn copy_padded<const N: usize>(numbers: &[f32], out: &mut [Block; N]) {
    let (blocks, rest) = numbers.as_chunks();
    out.iter_mut().zip(blocks).for_each(|(out, block)| *out = *block);
    if let Some(last) = out.get_mut(blocks.len()) {
        last.iter_mut().zip(rest).for_each(|(out, number)| *out = *number);
    }
}

/// Copies some units of rows, `[n_rows, n_units]`.
#[inline(always)]
fn copy_rows<'a, const N: usize>(
    rows: &[f32],
    n_units: usize,
    units: Range<usize>,
    out: &'a mut Aligned<Rows<N>>,
) -> &'a mut [[Block; N]] {
    for (row, out) in rows.chunks_exact(n_units).zip(&mut out.0) {
        copy_padded(&row[units.clone()], out);
    }
    &mut out.0[..rows.len() / n_units]
}

/// Splits a range into ranges of up to `len`.
fn ranges(all: Range<usize>, len: usize) -> impl Iterator<Item = Range<usize>> {
    all.clone().step_by(len).map(move |start| start..all.end.min(start + len))
}

/// Rows that are read at once: all, or as many as there is room to copy, if a pass does not cover all units.
fn rows_of_chunk<const N: usize>(n_rows: usize, n_units: usize) -> usize {
    match n_units == N * N_BLOCK {
        true => n_rows.max(1),
        false => n_rows.div_ceil(n_rows.div_ceil(ROWS).max(1)).max(1),
    }
}
