//! Transformed reward maps for tiles of candidates; `map_transformation.rs` has the equation.

use crate::arithmetic::{Arithmetic, Block, Kernel, SimdVector};
use crate::composite::layout::{MAP_PARTS, MapPlaces};
use crate::composite::tile::{N_TILE, Tile, TouchTile, ZERO_TILE, load_blocks, store_blocks};
use crate::nonlinearity::{MAX_PARTS, Nonlinearity, parts};

#[derive(Clone, Debug)]
pub(crate) struct MapTiles {
    k_f: usize,
    n_touch: usize,
    n_hidden: usize,
    /// `[k_f, n_touch + 1]`: weights of touches, bias.
    gates: Vec<f32>,
    /// `[n_hidden, n_in + 1]`: weights of maps, gated maps and touches, bias.
    hidden: Vec<f32>,
    /// `[k_f, 4 n_hidden]`
    out: Vec<f32>,
    out_biases: Vec<f32>,
    /// Bias plus contribution of past touches: gates, then hidden units.
    constants: Vec<f32>,
    /// Maps, then gated maps.
    inputs: Vec<Tile>,
    sums: Vec<Tile>,
}

impl MapTiles {
    pub fn new(places: &MapPlaces) -> Self {
        let MapPlaces { k_f, n_touch, n_hidden, .. } = *places;
        Self {
            k_f,
            n_touch,
            n_hidden,
            gates: vec![0.0; k_f * (n_touch + 1)],
            hidden: vec![0.0; n_hidden * (places.n_in() + 1)],
            out: vec![0.0; k_f * MAP_PARTS * n_hidden],
            out_biases: vec![0.0; k_f],
            constants: vec![0.0; k_f + n_hidden],
            inputs: vec![ZERO_TILE; 2 * k_f],
            sums: vec![ZERO_TILE; k_f],
        }
    }

    /// `parameters` are those of all map transformations.
    pub fn load(&mut self, places: &MapPlaces, parameters: &[f32]) {
        let with_bias = |rows: &mut [f32], n: usize, weights: &[f32], biases: &[f32]| {
            for ((row, weights), &bias) in
                rows.chunks_exact_mut(n + 1).zip(weights.chunks_exact(n)).zip(biases)
            {
                row[..n].copy_from_slice(weights);
                row[n] = bias;
            }
        };
        let of = |range: std::ops::Range<usize>| &parameters[range];
        with_bias(&mut self.gates, self.n_touch, of(places.gate_weights()), of(places.gate_biases()));
        with_bias(&mut self.hidden, places.n_in(), of(places.hidden_weights()), of(places.hidden_biases()));
        self.out.copy_from_slice(of(places.out_weights()));
        self.out_biases.copy_from_slice(of(places.out_biases()));
    }

    pub fn set_past_touches(&mut self, past_touches: &[f32]) {
        let n_past = self.n_touch - 2;
        let (of_gates, of_hidden) = self.constants.split_at_mut(self.k_f);
        let n_in = 2 * self.k_f + self.n_touch;
        let constant = |row: &[f32], first: usize| {
            let bias = row[row.len() - 1];
            row[first..first + n_past].iter().zip(past_touches).fold(bias, |sum, (w, touch)| sum + w * touch)
        };
        for (out, row) in of_gates.iter_mut().zip(self.gates.chunks_exact(self.n_touch + 1)) {
            *out = constant(row, 0);
        }
        for (out, row) in of_hidden.iter_mut().zip(self.hidden.chunks_exact(n_in + 1)) {
            *out = constant(row, 2 * self.k_f);
        }
    }

    /// `plain` and `out` are the indices of the first logit of the original and the transformed map.
    #[inline(always)]
    fn transform<B: SimdVector<Memory = Block>, const BLOCKS: usize>(
        &mut self,
        touches: &TouchTile,
        plain: usize,
        out: usize,
        logits: &mut [Tile],
    ) {
        let (k_f, n_touch, n) = (self.k_f, self.n_touch, self.n_hidden);
        let n_in = 2 * k_f + n_touch;
        let Self { inputs, sums, .. } = self;
        for first in (0..N_TILE).step_by(BLOCKS) {
            let rows = load_blocks::<B, BLOCKS>(&touches.rows, first);
            let cols = load_blocks::<B, BLOCKS>(&touches.cols, first);
            for map in 0..k_f {
                let weights = &self.gates[map * (n_touch + 1) + n_touch - 2..][..2];
                let logits = load_blocks::<B, BLOCKS>(&logits[plain + map], first);
                store_blocks::<B, BLOCKS>(logits, &mut inputs[map], first);
                store_blocks::<B, BLOCKS>([B::splat(self.out_biases[map]); BLOCKS], &mut sums[map], first);
                let mut gated = logits;
                for block in 0..BLOCKS {
                    let gate = B::mul_add(B::splat(weights[0]), rows[block], B::splat(self.constants[map]));
                    let gate = B::max(B::zero(), B::mul_add(B::splat(weights[1]), cols[block], gate));
                    gated[block] = B::mul(gate, logits[block]);
                }
                store_blocks::<B, BLOCKS>(gated, &mut inputs[k_f + map], first);
            }
            for unit in 0..n {
                let row = &self.hidden[unit * (n_in + 1)..][..n_in];
                let mut x = [B::splat(self.constants[k_f + unit]); BLOCKS];
                for (input, &weight) in inputs.iter().zip(&row[..2 * k_f]) {
                    let input = load_blocks::<B, BLOCKS>(input, first);
                    for block in 0..BLOCKS {
                        x[block] = B::mul_add(B::splat(weight), input[block], x[block]);
                    }
                }
                let mut activations = [[B::zero(); MAX_PARTS]; BLOCKS];
                for block in 0..BLOCKS {
                    x[block] = B::mul_add(B::splat(row[n_in - 2]), rows[block], x[block]);
                    x[block] = B::mul_add(B::splat(row[n_in - 1]), cols[block], x[block]);
                    activations[block] = parts::<B>(Nonlinearity::Cres, x[block]);
                }
                for (sum, weights) in sums.iter_mut().zip(self.out.chunks_exact(MAP_PARTS * n)) {
                    let mut total = load_blocks::<B, BLOCKS>(sum, first);
                    for part in 0..MAP_PARTS {
                        let weight = B::splat(weights[part * n + unit]);
                        for block in 0..BLOCKS {
                            total[block] = B::mul_add(weight, activations[block][part], total[block]);
                        }
                    }
                    store_blocks::<B, BLOCKS>(total, sum, first);
                }
            }
        }
        logits[out..out + k_f].copy_from_slice(&sums[..k_f]);
    }
}

/// Transforms the maps of all old modules.
pub(crate) struct TransformMaps<'a, F> {
    pub maps: &'a mut [MapTiles],
    pub touches: &'a TouchTile,
    /// From an old module to its transformed voter.
    pub transformed: F,
    /// `[n_voters, k_f]`
    pub logits: &'a mut [Tile],
}

impl<F: Fn(usize) -> usize> Kernel for TransformMaps<'_, F> {
    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let Self { maps, touches, transformed, logits } = self;
        for (old, map) in maps.iter_mut().enumerate() {
            let (plain, out) = (old * map.k_f, transformed(old) * map.k_f);
            match A::HAS_32_REGISTERS {
                true => map.transform::<A::Blocks, N_TILE>(touches, plain, out, logits),
                false => map.transform::<A::Blocks, 1>(touches, plain, out, logits),
            }
        }
    }
}
