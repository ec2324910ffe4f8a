//! The weights from touch units to the next stage, laid out for adding up the units' polynomials of the touch.

use crate::arithmetic::{Arithmetic, Block, Lanes, N_BLOCK, N_LANES, SimdVector};
use crate::linear::touch_units::Unit;
use crate::nonlinearity::SidePolynomials;

/// `1, row, col, row^2, row col, col^2`
pub(super) const N_TERMS: usize = 6;
/// Without squares: `1, row, col`.
pub(super) const N_LINEAR_TERMS: usize = 3;

/// For a block of outputs, the factors of `x` and `x^2` on either side of 0: `[side][power]`, above 0 first.
pub(super) type SideFactors = [[Block; 2]; 2];

/// Factors of the units' pre-activations in the next stage.
#[derive(Clone, Debug)]
pub(super) enum Terms {
    Linear(LinearTerms),
    /// `[n_out / 8, n_units, side, power]`
    Quadratic(Vec<[[Lanes; 2]; 2]>),
}

/// Factors of `x`.
#[derive(Clone, Debug)]
pub(super) struct LinearTerms {
    /// `[n_out / 16, n_units, n_sides]`
    factors: Vec<Block>,
    /// 1 if the nonlinearity is 0 below 0.
    n_sides: usize,
    /// The units that are not 0 in the middle of the screen.
    sources: Vec<Source>,
}

/// A unit on its side of 0: which factors apply, and its pre-activation as a function of the touch.
#[derive(Clone, Copy, Debug)]
struct Source {
    factors: usize,
    coefficients: [f32; N_LINEAR_TERMS],
}

impl Terms {
    pub fn new(sides: SidePolynomials, n_units: usize, n_out: usize) -> Self {
        if sides.have_squares() {
            return Self::Quadratic(vec![[[[0.0; N_LANES]; 2]; 2]; n_out.div_ceil(N_LANES) * n_units]);
        }
        let n_sides = if sides.are_zero_below() { 1 } else { 2 };
        let factors = vec![[0.0; N_BLOCK]; n_out.div_ceil(N_BLOCK) * n_units * n_sides];
        Self::Linear(LinearTerms { factors, n_sides, sources: Vec::with_capacity(n_units) })
    }

    /// Sets the factors of units `first_unit` on, for a block of outputs.
    #[inline(always)]
    pub fn set(&mut self, n_units: usize, out_block: usize, first_unit: usize, units: &[SideFactors]) {
        match self {
            Self::Linear(LinearTerms { factors, n_sides, .. }) => {
                let factors =
                    factors[(out_block * n_units + first_unit) * *n_sides..].chunks_exact_mut(*n_sides);
                for (factors, sides) in factors.zip(units) {
                    factors.iter_mut().zip(sides).for_each(|(factors, side)| *factors = side[0]);
                }
            }
            Self::Quadratic(factors) => {
                const HALVES: usize = N_BLOCK / N_LANES;
                for half in 0..HALVES {
                    let first = (out_block * HALVES + half) * n_units + first_unit;
                    let Some(factors) = factors.get_mut(first..first + units.len()) else { continue };
                    for (factors, sides) in factors.iter_mut().zip(units) {
                        let factors = factors.as_flattened_mut().iter_mut();
                        factors
                            .zip(sides.as_flattened())
                            .for_each(|(factors, block)| *factors = block.as_chunks().0[half]);
                    }
                }
            }
        }
    }

    /// Adds up the polynomials of all units for each output; `put` takes an output and its terms.
    #[inline(always)]
    pub fn sum<A: Arithmetic>(&mut self, units: &[Unit], n_out: usize, mut put: impl FnMut(usize, &[f32])) {
        match self {
            Self::Linear(terms) => terms.sum::<A>(units, n_out, put),
            Self::Quadratic(factors) => {
                for (chunk, factors) in factors.chunks_exact(units.len()).enumerate() {
                    let terms = sum_quadratic::<A>(units, factors).map(A::stored);
                    for (lane, out) in (chunk * N_LANES..n_out).take(N_LANES).enumerate() {
                        put(out, &terms.map(|term| term[lane]));
                    }
                }
            }
        }
    }
}

impl LinearTerms {
    #[inline(always)]
    fn sum<A: Arithmetic>(&mut self, units: &[Unit], n_out: usize, mut put: impl FnMut(usize, &[f32])) {
        self.sources.clear();
        for (idx, &Unit { sign, middle, row_slope, col_slope }) in units.iter().enumerate() {
            let side = usize::from(sign < 0.0);
            if side < self.n_sides {
                let coefficients = [sign * middle, sign * row_slope, sign * col_slope];
                self.sources.push(Source { factors: idx * self.n_sides + side, coefficients });
            }
        }
        let stride = units.len() * self.n_sides;
        let n_blocks = n_out.div_ceil(N_BLOCK);
        let mut block = 0;
        while block < n_blocks {
            let factors = &self.factors[block * stride..];
            // As many accumulators as there are registers for.
            block += match n_blocks - block {
                4.. if A::HAS_32_REGISTERS => {
                    self.sum_blocks::<A::Blocks, 4>(factors, stride, block, n_out, &mut put)
                }
                2.. => self.sum_blocks::<A::Blocks, 2>(factors, stride, block, n_out, &mut put),
                _ => self.sum_blocks::<A::Blocks, 1>(factors, stride, block, n_out, &mut put),
            };
        }
    }

    /// Some blocks of outputs, from one on; returns their number.
    #[inline(always)]
    fn sum_blocks<B: SimdVector<Memory = Block>, const BLOCKS: usize>(
        &self,
        factors: &[Block],
        stride: usize,
        block: usize,
        n_out: usize,
        put: &mut impl FnMut(usize, &[f32]),
    ) -> usize {
        let mut acc = [[B::zero(); N_LINEAR_TERMS]; BLOCKS];
        for source in &self.sources {
            for (idx, acc) in acc.iter_mut().enumerate() {
                let factors = B::load(&factors[idx * stride + source.factors]);
                for (acc, &coefficient) in acc.iter_mut().zip(&source.coefficients) {
                    *acc = B::mul_add(factors, B::splat(coefficient), *acc);
                }
            }
        }
        for (idx, acc) in acc.iter().enumerate() {
            let mut terms = [[0.0; N_BLOCK]; N_LINEAR_TERMS];
            terms.iter_mut().zip(acc).for_each(|(terms, &acc)| B::store(acc, terms));
            for (lane, out) in ((block + idx) * N_BLOCK..n_out).take(N_BLOCK).enumerate() {
                put(out, &terms.map(|terms| terms[lane]));
            }
        }
        BLOCKS
    }
}

/// The terms of eight outputs, summed over all units.
#[inline(always)]
fn sum_quadratic<A: Arithmetic>(units: &[Unit], factors: &[[[Lanes; 2]; 2]]) -> [A::V; N_TERMS] {
    let mut terms = [A::zero(); N_TERMS];
    for (unit, factors) in units.iter().zip(factors) {
        let Unit { sign, middle, row_slope, col_slope } = *unit;
        let [linear, square] = if sign > 0.0 { &factors[0] } else { &factors[1] };
        let (linear, square) = (A::load(linear), A::load(square));
        for (term, coordinate) in terms.iter_mut().zip([middle, row_slope, col_slope]) {
            *term = A::mul_add(linear, A::splat(sign * coordinate), *term);
        }
        // The square does not depend on the sign.
        let squares = [
            middle * middle,
            2.0 * middle * row_slope,
            2.0 * middle * col_slope,
            row_slope * row_slope,
            2.0 * row_slope * col_slope,
            col_slope * col_slope,
        ];
        for (term, coefficient) in terms.iter_mut().zip(squares) {
            *term = A::mul_add(square, A::splat(coefficient), *term);
        }
    }
    terms
}
