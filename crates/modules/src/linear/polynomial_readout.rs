//! The head of a small module in one pass: the stage that reads polynomials of the touch, its nonlinearity and the readout.
//! Pre-activations and activations stay in registers.

use crate::arithmetic::{Block, SimdVector};
use crate::linear::Weights;
use crate::linear::candidates::{Active, add_column, is_summed_in_order, packed_groups};
use crate::linear::touch_polynomial::TouchPolynomial;
use crate::nonlinearity::{Nonlinearity, parts};

/// Maximum number of maps whose accumulators fit into registers.
const MAX_MAPS: usize = 2;

/// The readout after a stage.
#[derive(Clone, Copy)]
pub(crate) struct Readout<'a> {
    /// Between the stage and the readout.
    pub nonlinearity: Nonlinearity,
    /// `[n_maps, n_parts * n_units]`
    pub weights: Weights<'a>,
    /// `[n_maps]`
    pub biases: &'a [f32],
}

impl TouchPolynomial {
    /// Whether [`Self::read_tile`] supports these sizes.
    pub fn can_read(&self, nonlinearity: Option<Nonlinearity>, n_units: usize, n_maps: usize) -> bool {
        nonlinearity == Some(self.nonlinearity()) && is_summed_in_order(n_units) && n_maps <= MAX_MAPS
    }

    /// The logits of a tile of blocks; `put` takes a map's logits for a block of the tile.
    #[inline(always)]
    pub fn read_tile<B: SimdVector<Memory = Block>, const TILE: usize>(
        &self,
        active: Active<'_>,
        readout: Readout<'_>,
        put: impl FnMut(usize, usize, B::V),
    ) {
        match readout.biases.len() {
            1 => self.read_maps::<B, TILE, 1>(active, readout, put),
            MAX_MAPS => self.read_maps::<B, TILE, MAX_MAPS>(active, readout, put),
            n => unreachable!("{n} maps"),
        }
    }

    #[inline(always)]
    fn read_maps<B: SimdVector<Memory = Block>, const TILE: usize, const MAPS: usize>(
        &self,
        active: Active<'_>,
        readout: Readout<'_>,
        put: impl FnMut(usize, usize, B::V),
    ) {
        // Known at compile time in each arm.
        match readout.nonlinearity {
            Nonlinearity::Relu => self.read::<B, TILE, MAPS, 1>(Nonlinearity::Relu, active, readout, put),
            Nonlinearity::Crelu => self.read::<B, TILE, MAPS, 2>(Nonlinearity::Crelu, active, readout, put),
            Nonlinearity::Cres => self.read::<B, TILE, MAPS, 4>(Nonlinearity::Cres, active, readout, put),
            Nonlinearity::ReluSq => self.read::<B, TILE, MAPS, 2>(Nonlinearity::ReluSq, active, readout, put),
            Nonlinearity::Sq => self.read::<B, TILE, MAPS, 2>(Nonlinearity::Sq, active, readout, put),
            other => unreachable!("{} is not polynomial", other.name()),
        }
    }

    #[inline(always)]
    fn read<B: SimdVector<Memory = Block>, const TILE: usize, const MAPS: usize, const PARTS: usize>(
        &self,
        nonlinearity: Nonlinearity,
        active: Active<'_>,
        readout: Readout<'_>,
        mut put: impl FnMut(usize, usize, B::V),
    ) {
        let n_units = self.constants.len();
        let mut rows: [[&[f32]; PARTS]; MAPS] = [[&[]; PARTS]; MAPS];
        for (map, row) in rows.iter_mut().enumerate() {
            for (part, row) in row.iter_mut().enumerate() {
                *row = &readout.weights.row(map)[part * n_units..][..n_units];
            }
        }
        let mut acc = [[[B::zero(); TILE]; PARTS]; MAPS];
        for group in packed_groups(n_units, self.n_inputs()) {
            let weights = &self.packed[group.weights];
            match group.units.len() {
                6 => self.read_group::<B, TILE, MAPS, PARTS, 6>(
                    nonlinearity,
                    group.units.start,
                    weights,
                    active,
                    &rows,
                    &mut acc,
                ),
                4 => self.read_group::<B, TILE, MAPS, PARTS, 4>(
                    nonlinearity,
                    group.units.start,
                    weights,
                    active,
                    &rows,
                    &mut acc,
                ),
                n => unreachable!("a group of {n} units"),
            }
        }
        for (map, parts) in acc.iter().enumerate() {
            for block in 0..TILE {
                let mut logit = parts[0][block];
                for part in &parts[1..] {
                    logit = B::add(logit, part[block]);
                }
                put(map, block, B::add(B::splat(readout.biases[map]), logit));
            }
        }
    }

    /// Adds a group's contributions to the maps.
    #[inline(always)]
    fn read_group<
        B: SimdVector<Memory = Block>,
        const TILE: usize,
        const MAPS: usize,
        const PARTS: usize,
        const UNITS: usize,
    >(
        &self,
        nonlinearity: Nonlinearity,
        first_unit: usize,
        weights: &[f32],
        active: Active<'_>,
        rows: &[[&[f32]; PARTS]; MAPS],
        acc: &mut [[[B::V; TILE]; PARTS]; MAPS],
    ) {
        let weights = weights.as_chunks::<UNITS>().0;
        let mut pre_activations = [[B::zero(); TILE]; UNITS];
        let constants = &self.constants[first_unit..first_unit + UNITS];
        for unit in 0..UNITS {
            pre_activations[unit] = [B::splat(constants[unit]); TILE];
        }
        for (column, x) in active.columns.iter().zip(active.numbers.as_chunks::<TILE>().0) {
            add_column::<B, TILE, UNITS>(&weights[*column as usize], x, &mut pre_activations);
        }
        for unit in 0..UNITS {
            for block in 0..TILE {
                let parts = parts::<B>(nonlinearity, pre_activations[unit][block]);
                for map in 0..MAPS {
                    for part in 0..PARTS {
                        let weight = B::splat(rows[map][part][first_unit + unit]);
                        acc[map][part][block] = B::mul_add(weight, parts[part], acc[map][part][block]);
                    }
                }
            }
        }
    }
}
