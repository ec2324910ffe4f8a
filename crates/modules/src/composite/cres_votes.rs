//! Votes on the activations of CReS, which are computed from pre-activations in registers.

use crate::arithmetic::{Block, SimdVector};
use crate::composite::packed_rows::{N_PIECE, PackedRows, RowGroup};
use crate::composite::tile::Tile;
use crate::nonlinearity::{Nonlinearity, parts};

/// Activations of a unit: `relu(x), relu(-x), relu(x)^2, relu(-x)^2`.
const PARTS: usize = 4;

/// The order of columns: unit by unit `relu(x), relu(x)^2, relu(-x), relu(-x)^2`. If a whole block has one sign, either the
/// first two are used or the last two.
pub(crate) fn unit_major(n_units: usize) -> impl Fn(usize) -> usize {
    move |column| {
        let (voter, part, unit) = (column / (PARTS * n_units), column / n_units % PARTS, column % n_units);
        let (power, side) = (part / 2, part % 2);
        (voter * n_units + unit) * PARTS + 2 * side + power
    }
}

impl PackedRows {
    /// `out[row] = biases[row] + sum_i W[row, i] h[i]` for a block of a tile, where `h` are the activations of pre-activations
    /// `x`, and columns are [`unit_major`].
    #[inline(always)]
    pub fn cres_products<B: SimdVector<Memory = Block>, const BLOCKS: usize>(
        &self,
        biases: &[f32],
        x: &[Tile],
        block: usize,
        out: &mut [Tile],
    ) {
        for (RowGroup { first, width, n_paired }, weights) in self.groups() {
            let (biases, out) = (&biases[first..first + width], &mut out[first..first + width]);
            match (width, n_paired) {
                (12, 0) if BLOCKS > 1 => cres_rows::<B, 12, 0>(weights, biases, x, block, out),
                (6, 0) => cres_rows::<B, 6, 0>(weights, biases, x, block, out),
                (4, 0) => cres_rows::<B, 4, 0>(weights, biases, x, block, out),
                (9, 3) if BLOCKS > 1 => cres_rows::<B, 9, 3>(weights, biases, x, block, out),
                (7, 1) if BLOCKS > 1 => cres_rows::<B, 7, 1>(weights, biases, x, block, out),
                (5, 1) if BLOCKS > 1 => cres_rows::<B, 5, 1>(weights, biases, x, block, out),
                (3, 3) => cres_rows::<B, 3, 3>(weights, biases, x, block, out),
                (2, 2) => cres_rows::<B, 2, 2>(weights, biases, x, block, out),
                (1, 1) => cres_rows::<B, 1, 1>(weights, biases, x, block, out),
                sizes => unreachable!("no group for lists has the sizes {sizes:?}"),
            }
        }
    }
}

#[inline(always)]
fn cres_rows<B: SimdVector<Memory = Block>, const ROWS: usize, const PAIRED: usize>(
    weights: &[f32],
    biases: &[f32],
    x: &[Tile],
    block: usize,
    out: &mut [Tile],
) {
    let weights = weights.as_chunks::<ROWS>().0.as_chunks::<PARTS>().0;
    let mut sums = Accumulators::<B, ROWS, PAIRED>::new(biases);
    for ([up, up_squared, down, down_squared], x) in weights.iter().zip(x) {
        let x = B::load(&x[block]);
        let (is_above, is_below) = (B::any_above_zero(x), B::any_below_zero(x));
        if is_above && is_below {
            let activations = parts::<B>(Nonlinearity::Cres, x);
            sums.add_two([up, down], [activations[0], activations[1]]);
            sums.add_two([up_squared, down_squared], [activations[2], activations[3]]);
        } else if is_above | is_below {
            let magnitude = B::max(B::sub(B::zero(), x), x);
            let weights = if is_below { [down, down_squared] } else { [up, up_squared] };
            sums.add_two(weights, [magnitude, B::mul(magnitude, magnitude)]);
        }
    }
    sums.store(block, out);
}

/// The accumulators of a group's rows; the module of [`PackedRows`] describes the order of summation.
struct Accumulators<B: SimdVector<Memory = Block>, const ROWS: usize, const PAIRED: usize> {
    sums: [B::V; ROWS],
    /// The second accumulators of the last rows.
    others: [B::V; PAIRED],
    /// Inputs since the last join.
    n: usize,
}

impl<B: SimdVector<Memory = Block>, const ROWS: usize, const PAIRED: usize> Accumulators<B, ROWS, PAIRED> {
    #[inline(always)]
    fn new(biases: &[f32]) -> Self {
        let mut sums = [B::zero(); ROWS];
        for (sum, &bias) in sums.iter_mut().zip(biases) {
            *sum = B::splat(bias);
        }
        Self { sums, others: [B::zero(); PAIRED], n: 0 }
    }

    #[inline(always)]
    fn add_two(&mut self, weights: [&[f32; ROWS]; 2], x: [B::V; 2]) {
        let ([one, other], n_single) = (weights, ROWS - PAIRED);
        let Self { sums, others, .. } = self;
        for row in 0..ROWS {
            sums[row] = B::mul_add(B::splat(one[row]), x[0], sums[row]);
        }
        for row in 0..n_single {
            sums[row] = B::mul_add(B::splat(other[row]), x[1], sums[row]);
        }
        for row in 0..PAIRED {
            others[row] = B::mul_add(B::splat(other[n_single + row]), x[1], others[row]);
        }
        if PAIRED > 0 {
            self.n += 2;
            if self.n == N_PIECE {
                self.join();
            }
        }
    }

    #[inline(always)]
    fn join(&mut self) {
        for (sum, other) in self.sums[ROWS - PAIRED..].iter_mut().zip(&mut self.others) {
            *sum = B::add(*sum, *other);
            *other = B::zero();
        }
        self.n = 0;
    }

    #[inline(always)]
    fn store(mut self, block: usize, out: &mut [Tile]) {
        self.join();
        for (sum, out) in self.sums.into_iter().zip(out) {
            B::store(sum, &mut out[block]);
        }
    }
}
