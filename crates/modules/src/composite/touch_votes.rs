//! Votes on the layer that reads the touch, for nonlinearities that are polynomials on each side of 0.
//!
//! As in `linear/touch_polynomial.rs`, each vote is a polynomial of the touch, which is expanded once per screen, plus the
//! jumps of the few units whose sign somewhere in a block differs from their sign in the middle of the screen.

use crate::arithmetic::{Arithmetic, Block, Kernel, N_BLOCK, SimdVector};
use crate::composite::activation_list::{ActivationList, ListWriter};
use crate::composite::layer_votes::softmax;
use crate::composite::layout::StageVotes;
use crate::composite::packed_rows::{Grouping, PackedRows};
use crate::composite::tile::{N_TILE, Tile, TouchTile};
use crate::composite::touch_stage::TouchUnit;
use crate::linear::touch_units::{Bounds, Unit, UnitBlock};
use crate::nonlinearity::{Nonlinearity, SidePolynomials};

/// `1, row, col, row^2, row col, col^2`
const N_TERMS: usize = 6;

#[derive(Clone, Debug)]
pub(crate) struct TouchVotes {
    sides: SidePolynomials,
    n_voters: usize,
    /// Units of one voter.
    n_units: usize,
    /// For 16 votes at a time, `[n_voters / 16, n_voters * n_units][side][power]`.
    factors: Vec<[[Block; 2]; 2]>,
    /// All units, 16 at a time.
    units: Vec<UnitBlock>,
    unit_terms: Vec<UnitTerms>,
    /// For 16 votes at a time.
    terms: Vec<[Block; N_TERMS]>,
    /// Weights of the terms after the first, then of each unit's jumps of `x` and `x^2`.
    packed: PackedRows,
    /// The first term of each vote.
    constants: Vec<f32>,
}

/// Coefficients of a unit's `x` (first three terms) and `x^2` (all terms).
#[derive(Clone, Copy, Debug, Default)]
struct UnitTerms {
    is_below: bool,
    linear: [f32; 3],
    square: [f32; N_TERMS],
}

impl TouchVotes {
    /// `None` if the nonlinearity is not polynomial.
    pub fn new(
        nonlinearity: Nonlinearity,
        votes: &StageVotes,
        n_units: usize,
        grouping: Grouping,
    ) -> Option<Self> {
        let sides = nonlinearity.side_polynomials()?;
        let n_voters = votes.n_voters();
        let n_all = n_voters * n_units;
        let mut new = Self {
            sides,
            n_voters,
            n_units,
            factors: vec![[[[0.0; N_BLOCK]; 2]; 2]; n_voters.div_ceil(N_BLOCK) * n_all],
            units: vec![UnitBlock::NO_UNITS; n_all.div_ceil(N_BLOCK)],
            unit_terms: vec![UnitTerms::default(); n_all],
            terms: vec![[[0.0; N_BLOCK]; N_TERMS]; n_voters.div_ceil(N_BLOCK)],
            packed: PackedRows::new(0, 0, grouping),
            constants: vec![0.0; n_voters],
        };
        new.packed = PackedRows::new(n_voters, new.max_activations(), grouping);
        Some(new)
    }

    /// Terms after the first.
    fn n_monomials(&self) -> usize {
        if self.sides.have_squares() { N_TERMS - 1 } else { 2 }
    }

    /// Powers of `x` whose factors differ above and below 0; never `x^2` alone.
    fn n_jumps(&self) -> usize {
        self.sides.differ().into_iter().filter(|&differ| differ).count()
    }

    /// Maximum length of a block's list.
    pub fn max_activations(&self) -> usize {
        self.n_monomials() + self.n_jumps() * self.n_voters * self.n_units
    }

    /// `weights` are `[n_voters, n_voters * n_activations]`.
    pub fn load(&mut self, weights: &[f32]) {
        let (n_voters, n_units) = (self.n_voters, self.n_units);
        let (n_monomials, n_jumps) = (self.n_monomials(), self.n_jumps());
        let terms = [0, 1].map(|side| [0, 1].map(|power| self.sides.term(side, power)));
        let row_len = weights.len() / n_voters;
        let rows = |first: usize| weights[first * row_len..].chunks_exact(row_len);
        let of_voter = |voter: usize| voter * row_len / n_voters..(voter + 1) * row_len / n_voters;
        for (idx, factors) in self.factors.chunks_exact_mut(n_voters * n_units).enumerate() {
            for (voter, factors) in factors.chunks_exact_mut(n_units).enumerate() {
                for (lane, row) in rows(idx * N_BLOCK).take(N_BLOCK).enumerate() {
                    let activations = &row[of_voter(voter)];
                    for (side, power) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                        let Some((part, sign)) = terms[side][power] else { continue };
                        let weights = &activations[part * n_units..][..n_units];
                        for (factors, weight) in factors.iter_mut().zip(weights) {
                            factors[side][power][lane] = sign * weight;
                        }
                    }
                }
            }
        }
        if n_jumps == 0 {
            return;
        }
        for (group, packed) in self.packed.groups_mut() {
            let of_units =
                packed[n_monomials * group.width..].chunks_exact_mut(n_units * n_jumps * group.width);
            for (voter, jumps) in of_units.enumerate() {
                for (lane, row) in rows(group.first).take(group.width).enumerate() {
                    let activations = &row[of_voter(voter)];
                    let weights = |term: Option<(usize, f32)>| match term {
                        Some((part, sign)) => (&activations[part * n_units..][..n_units], sign),
                        None => (&activations[..n_units], 0.0),
                    };
                    for (power, (&above, &below)) in terms[0].iter().zip(&terms[1]).take(n_jumps).enumerate()
                    {
                        let ((above, above_sign), (below, below_sign)) = (weights(above), weights(below));
                        let mut place = power * group.width + lane;
                        for (a, b) in above.iter().zip(below) {
                            jumps[place] = below_sign * b - above_sign * a;
                            place += n_jumps * group.width;
                        }
                    }
                }
            }
        }
    }

    /// Sets the units of a screen, `[n_voters, n_units]`.
    pub fn set_units(&mut self, units: &[TouchUnit]) {
        for ((signed, units), terms) in
            self.units.iter_mut().zip(units.chunks(N_BLOCK)).zip(self.unit_terms.chunks_mut(N_BLOCK))
        {
            for (lane, (unit, terms)) in units.iter().zip(terms).enumerate() {
                let linear = [unit.middle, unit.row_slope, unit.col_slope];
                let unit = Unit::new(linear);
                signed.set(lane, unit);
                let Unit { sign, middle, row_slope, col_slope } = unit;
                *terms = UnitTerms {
                    is_below: sign < 0.0,
                    linear,
                    square: [
                        middle * middle,
                        2.0 * middle * row_slope,
                        2.0 * middle * col_slope,
                        row_slope * row_slope,
                        2.0 * row_slope * col_slope,
                        col_slope * col_slope,
                    ],
                };
            }
        }
    }

    #[inline(always)]
    fn vote<B: SimdVector<Memory = Block>, const BLOCKS: usize>(
        &self,
        touches: &TouchTile,
        list: &mut ActivationList,
        votes: &mut [Tile],
    ) {
        for block in 0..touches.rows.len() {
            self.set_list::<B>(touches, block, list);
            self.packed.list_products::<B, BLOCKS>(&self.constants, list, block, votes);
        }
    }

    /// Lists the monomials of a block's touches, and the jumps that are not 0 for the whole block.
    #[inline(always)]
    fn set_list<B: SimdVector<Memory = Block>>(
        &self,
        touches: &TouchTile,
        block: usize,
        list: &mut ActivationList,
    ) {
        let (rows, cols) = (B::load(&touches.rows[block]), B::load(&touches.cols[block]));
        let mut writer = list.restart();
        writer.push::<B, 2>([0, 1], [rows, cols], 2);
        if self.sides.have_squares() {
            let squares = [B::mul(rows, rows), B::mul(rows, cols), B::mul(cols, cols)];
            writer.push::<B, 3>([2, 3, 4], squares, 3);
        }
        let bounds = Bounds::of(&[touches.rows[block]], &[touches.cols[block]]);
        match self.sides.differ() {
            [true, true] => self.add_jumps::<B, 2>(rows, cols, bounds, &mut writer),
            [true, false] => self.add_jumps::<B, 1>(rows, cols, bounds, &mut writer),
            [false, false] => {}
            [false, true] => unreachable!("no nonlinearity jumps in its square alone"),
        }
        let len = writer.len;
        list.keep(len);
    }

    #[inline(always)]
    fn add_jumps<B: SimdVector<Memory = Block>, const POWERS: usize>(
        &self,
        rows: B::V,
        cols: B::V,
        bounds: Bounds,
        writer: &mut ListWriter<'_>,
    ) {
        let n_monomials = self.n_monomials();
        for (idx, units) in self.units.iter().enumerate() {
            let mut below = units.below_in::<B>(bounds);
            while below != 0 {
                let lane = below.trailing_zeros() as usize % N_BLOCK;
                below &= below - 1;
                let (row_slope, col_slope) =
                    (B::splat(units.row_slopes[lane]), B::splat(units.col_slopes[lane]));
                let x =
                    B::mul_add(col_slope, cols, B::mul_add(row_slope, rows, B::splat(units.middles[lane])));
                // 0 on the side of the middle, else the jump.
                let off = B::min(B::zero(), x);
                let first = n_monomials + POWERS * (idx * N_BLOCK + lane);
                let is_off = usize::from(B::any_below_zero(x));
                if POWERS == 2 {
                    let square = B::mul(B::splat(units.signs[lane]), B::mul(off, off));
                    writer.push::<B, 2>([first, first + 1], [off, square], 2 * is_off);
                } else {
                    writer.push::<B, 1>([first], [off], is_off);
                }
            }
        }
    }
}

/// The shares of a layer's voters.
pub(crate) struct TouchVotePass<'a> {
    pub votes: &'a TouchVotes,
    pub touches: &'a TouchTile,
    pub list: &'a mut ActivationList,
    pub shares: &'a mut [Tile],
}

impl Kernel for TouchVotePass<'_> {
    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let Self { votes, touches, list, shares } = self;
        match A::HAS_32_REGISTERS {
            true => {
                votes.vote::<A::Blocks, N_TILE>(touches, list, shares);
                softmax::<A::Blocks, N_TILE>(shares);
            }
            false => {
                votes.vote::<A::Blocks, 1>(touches, list, shares);
                softmax::<A::Blocks, 1>(shares);
            }
        }
    }
}

/// Expands the polynomials of a screen, after [`TouchVotes::set_units`].
pub(crate) struct Expand<'a> {
    pub votes: &'a mut TouchVotes,
    pub biases: &'a [f32],
}

impl Kernel for Expand<'_> {
    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let n_monomials = self.votes.n_monomials();
        let TouchVotes { factors, unit_terms, terms, packed, constants, sides, .. } = self.votes;
        for (factors, terms) in factors.chunks_exact(unit_terms.len()).zip(&mut *terms) {
            sum_terms::<A::Blocks>(unit_terms, factors, sides.have_squares(), terms);
        }
        let term = |idx: usize, vote: usize| terms[vote / N_BLOCK][idx][vote % N_BLOCK];
        for (vote, (constant, bias)) in constants.iter_mut().zip(self.biases).enumerate() {
            *constant = bias + term(0, vote);
        }
        for (group, packed) in packed.groups_mut() {
            for (monomial, weights) in packed.chunks_exact_mut(group.width).take(n_monomials).enumerate() {
                for (lane, weight) in weights.iter_mut().enumerate() {
                    *weight = term(monomial + 1, group.first + lane);
                }
            }
        }
    }
}

/// The terms of 16 votes, summed over all units.
#[inline(always)]
fn sum_terms<B: SimdVector<Memory = Block>>(
    units: &[UnitTerms],
    factors: &[[[Block; 2]; 2]],
    have_squares: bool,
    terms: &mut [Block; N_TERMS],
) {
    let mut sums = [B::zero(); N_TERMS];
    for (unit, factors) in units.iter().zip(factors) {
        let [linear, square] = if unit.is_below { &factors[1] } else { &factors[0] };
        let linear = B::load(linear);
        for (sum, &coefficient) in sums.iter_mut().zip(&unit.linear) {
            *sum = B::mul_add(linear, B::splat(coefficient), *sum);
        }
        if have_squares {
            let square = B::load(square);
            for (sum, &coefficient) in sums.iter_mut().zip(&unit.square) {
                *sum = B::mul_add(square, B::splat(coefficient), *sum);
            }
        }
    }
    for (term, sum) in terms.iter_mut().zip(sums) {
        B::store(sum, term);
    }
}
