//! A transformed reward map for blocks of candidates: see `map_transformation.rs`.

use crate::arithmetic::{Block, N_BLOCK, Numbers};
use crate::composite::layout::{MAP_PARTS, MapPlaces};
use crate::nonlinearity::{Nonlinearity, parts};

/// One old module's transformation.
#[derive(Clone, Debug)]
pub(crate) struct MapBlocks {
    k_f: usize,
    n_touch: usize,
    n_hidden: usize,
    /// Gates, `[k_f]` rows: weights of touches, bias; and hidden units: weights of maps, gated maps, touches, bias.
    gates: Vec<f32>,
    hidden: Vec<f32>,
    /// `[k_f, 4 n_hidden]`, and biases.
    out: Vec<f32>,
    out_biases: Vec<f32>,
    /// Of gates, then hidden units: bias and what past touches add.
    constants: Vec<f32>,
    /// Maps, then gated maps; sums of the outputs.
    inputs: Vec<Block>,
    sums: Vec<Block>,
}

impl MapBlocks {
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
            inputs: vec![[0.0; N_BLOCK]; 2 * k_f],
            sums: vec![[0.0; N_BLOCK]; k_f],
        }
    }

    /// Takes the parameters of all map transformations as they are now.
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

    /// Takes the touches before the present one.
    pub fn look(&mut self, past_touches: &[f32]) {
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

    /// Sets the `k_f` blocks from `out` on, from the logits that stand from `plain` on.
    #[inline(always)]
    pub fn transform<B: Numbers<Memory = Block>>(
        &mut self,
        rows: B::V,
        cols: B::V,
        plain: usize,
        out: usize,
        logits: &mut [Block],
    ) {
        let (k_f, n_touch, n) = (self.k_f, self.n_touch, self.n_hidden);
        let n_in = 2 * k_f + n_touch;
        let Self { inputs, sums, .. } = self;
        for map in 0..k_f {
            let slopes = &self.gates[map * (n_touch + 1) + n_touch - 2..][..2];
            inputs[map] = logits[plain + map];
            B::store(B::splat(self.out_biases[map]), &mut sums[map]);
            let gate = B::mul_add(B::splat(slopes[0]), rows, B::splat(self.constants[map]));
            let gate = B::max(B::zero(), B::mul_add(B::splat(slopes[1]), cols, gate));
            B::store(B::mul(gate, B::load(&inputs[map])), &mut inputs[k_f + map]);
        }
        for unit in 0..n {
            let row = &self.hidden[unit * (n_in + 1)..][..n_in];
            let mut sum = B::splat(self.constants[k_f + unit]);
            for (input, &weight) in inputs.iter().zip(&row[..2 * k_f]) {
                sum = B::mul_add(B::splat(weight), B::load(input), sum);
            }
            sum = B::mul_add(B::splat(row[n_in - 2]), rows, sum);
            sum = B::mul_add(B::splat(row[n_in - 1]), cols, sum);
            let parts = parts::<B>(Nonlinearity::Cres, sum);
            for (sum, weights) in sums.iter_mut().zip(self.out.chunks_exact(MAP_PARTS * n)) {
                let mut total = B::load(sum);
                for (part, &number) in parts.iter().enumerate() {
                    total = B::mul_add(B::splat(weights[part * n + unit]), number, total);
                }
                B::store(total, sum);
            }
        }
        logits[out..out + k_f].copy_from_slice(&sums[..k_f]);
    }
}
