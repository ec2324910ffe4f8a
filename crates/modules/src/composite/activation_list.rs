//! The activations of all voters that are not 0 for all candidates of a block.
//!
//! Of a rectified unit a block of neighbouring candidates mostly lies on one side of 0, so about half of the activations are
//! left out.

use crate::arithmetic::{Block, N_BLOCK, SimdVector};
use crate::composite::tile::Tile;
use crate::nonlinearity::{Nonlinearity, parts};

/// Activations, and which inputs of the votes they are.
#[derive(Clone, Debug)]
pub(crate) struct ActivationList {
    values: Vec<Block>,
    columns: Vec<u32>,
    len: usize,
}

/// Activations that are stored before it is known whether they stay.
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

    /// Empties the list, to be written again.
    #[inline(always)]
    pub fn restart(&mut self) -> ListWriter<'_> {
        ListWriter { columns: &mut self.columns, values: &mut self.values, len: 0 }
    }

    /// Keeps the first `len` that were written.
    #[inline(always)]
    pub fn keep(&mut self, len: usize) {
        self.len = len;
    }

    /// Becomes the activations of a block of a tile. `x` has the pre-activations of all voters, `[n_voters, n_units]`.
    #[inline(always)]
    pub fn set<B: SimdVector<Memory = Block>>(
        &mut self,
        nonlinearity: Nonlinearity,
        n_units: usize,
        x: &[Tile],
        block: usize,
    ) {
        use Side::{Both, Down, Up};
        let mut writer = self.restart();
        let from = PreActivations { x, n_units, block };
        // Decided once, not for each unit.
        match nonlinearity {
            Nonlinearity::Cres => unreachable!("votes on CReS need no list"),
            Nonlinearity::Crelu => writer.add::<B, 2>(Nonlinearity::Crelu, [Up, Down], from),
            Nonlinearity::Relu => writer.add::<B, 1>(Nonlinearity::Relu, [Up], from),
            Nonlinearity::Tanh => writer.add::<B, 1>(Nonlinearity::Tanh, [Both], from),
            Nonlinearity::Sigmoid => writer.add::<B, 1>(Nonlinearity::Sigmoid, [Both], from),
            Nonlinearity::Elu => writer.add::<B, 1>(Nonlinearity::Elu, [Both], from),
            Nonlinearity::ReluSq => writer.add::<B, 2>(Nonlinearity::ReluSq, [Up, Both], from),
            Nonlinearity::Sq => writer.add::<B, 2>(Nonlinearity::Sq, [Both, Both], from),
        }
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
    /// Stores some activations; the first `n` stay.
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
        nonlinearity: Nonlinearity,
        sides: [Side; PARTS],
        PreActivations { x, n_units, block }: PreActivations<'_>,
    ) {
        for (voter, x) in x.chunks_exact(n_units).enumerate() {
            for (unit, x) in x.iter().enumerate() {
                let x = B::load(&x[block]);
                let (is_above, is_below) = (B::any_above_zero(x), B::any_below_zero(x));
                let parts = parts::<B>(nonlinearity, x);
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

/// For which pre-activations a part of a nonlinearity is not 0.
#[derive(Clone, Copy)]
enum Side {
    Up,
    Down,
    Both,
}
