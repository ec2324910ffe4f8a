//! The activations of all voters that are not 0 for a whole block of candidates.
//!
//! A rectified unit mostly has one sign for all candidates of a block, so about half of the activations are skipped.

use crate::arithmetic::{Block, N_BLOCK, SimdVector};
use crate::composite::tile::Tile;
use crate::nonlinearity::{Nonlinearity, Side, parts, with_known};

/// Activations and their columns among the inputs of the votes.
#[derive(Clone, Debug)]
pub(crate) struct ActivationList {
    values: Vec<Block>,
    columns: Vec<u32>,
    len: usize,
}

/// Activations that are written before it is known whether they are kept.
const N_AHEAD: usize = 2;

impl ActivationList {
    /// An empty list for at most `capacity` activations.
    pub fn new(capacity: usize) -> Self {
        let n = capacity + N_AHEAD;
        Self { values: vec![[0.0; N_BLOCK]; n], columns: vec![0; n], len: 0 }
    }

    #[inline(always)]
    pub fn columns(&self) -> &[u32] {
        &self.columns[..self.len]
    }

    #[inline(always)]
    pub fn values(&self) -> &[Block] {
        &self.values[..self.len]
    }

    /// Starts a new list.
    #[inline(always)]
    pub fn restart(&mut self) -> ListWriter<'_> {
        ListWriter { columns: &mut self.columns, values: &mut self.values, len: 0 }
    }

    /// Ends the new list.
    #[inline(always)]
    pub fn keep(&mut self, len: usize) {
        self.len = len;
    }

    /// Lists the activations of a block of a tile. `x` are the pre-activations of all voters, `[n_voters, n_units]`.
    #[inline(always)]
    pub fn set<B: SimdVector<Memory = Block>>(
        &mut self,
        nonlinearity: Nonlinearity,
        n_units: usize,
        x: &[Tile],
        block: usize,
    ) {
        let mut writer = self.restart();
        let from = PreActivations { x, n_units, block };
        with_known!(nonlinearity, |known, PARTS| writer.add::<B, PARTS>(known, from));
        let len = writer.len;
        self.keep(len);
    }
}

/// Writes a list.
pub(crate) struct ListWriter<'a> {
    columns: &'a mut [u32],
    values: &'a mut [Block],
    pub len: usize,
}

impl ListWriter<'_> {
    /// Appends the first `n` of some activations.
    #[inline(always)]
    pub fn push<B: SimdVector<Memory = Block>, const ACTIVATIONS: usize>(
        &mut self,
        columns: [usize; ACTIVATIONS],
        values: [B::V; ACTIVATIONS],
        n: usize,
    ) {
        let places = self.columns[self.len..].first_chunk_mut::<ACTIVATIONS>();
        let places = places.zip(self.values[self.len..].first_chunk_mut::<ACTIVATIONS>());
        let (column_places, value_places) = places.expect("room for all activations of the stage");
        for idx in 0..ACTIVATIONS {
            column_places[idx] = columns[idx] as u32;
            B::store(values[idx], &mut value_places[idx]);
        }
        self.len += n;
    }

    #[inline(always)]
    fn add<B: SimdVector<Memory = Block>, const PARTS: usize>(
        &mut self,
        known: Nonlinearity,
        PreActivations { x, n_units, block }: PreActivations<'_>,
    ) {
        let sides = known.active_sides();
        for (voter, x) in x.chunks_exact(n_units).enumerate() {
            for (unit, x) in x.iter().enumerate() {
                let x = B::load(&x[block]);
                let (is_above, is_below) = (B::any_above_zero(x), B::any_below_zero(x));
                let parts = parts::<B>(known, x);
                for part in 0..PARTS {
                    let is_active = match sides[part] {
                        Side::Up => is_above,
                        Side::Down => is_below,
                        Side::Both => true,
                    };
                    let column = (voter * PARTS + part) * n_units + unit;
                    self.push::<B, 1>([column], [parts[part]], usize::from(is_active));
                }
            }
        }
    }
}

/// Pre-activations of a block.
struct PreActivations<'a> {
    x: &'a [Tile],
    n_units: usize,
    block: usize,
}
