//! The stage behind the one that reads the touch, for nonlinearities that are polynomials on either side of 0.
//!
//! A unit's sum is linear in the touch. Where a unit stays on the side of 0 on which it is in the middle of the screen,
//! what it gives is a polynomial of the touch, of degree two at most; so is the sum over all units that the next stage
//! makes of them. That one polynomial is found once a screen. A block of candidates evaluates it, and adds the jumps of
//! the few units that are on their other side somewhere in the block.

use crate::arithmetic::{Arithmetic, Block, Instructions, Kernel, Lanes, N_LANES, Numbers};
use crate::linear::Weights;
use crate::linear::candidates::{Active, block_products, packed_rows};
use crate::nonlinearity::{Nonlinearity, SidePolynomials};

/// `1, row, col, row^2, row col, col^2`
const N_TERMS: usize = 6;

/// The polynomials of a stage's sums, and the jumps of the units before it.
#[derive(Clone, Debug)]
pub(crate) struct TouchPolynomial {
    sides: SidePolynomials,
    /// Units of the stage that reads the touch.
    n_touch_units: usize,
    n_out: usize,
    /// For each eight sums and each unit, what multiplies `x` and `x^2`, above 0 and below.
    factors: Vec<[[Lanes; 2]; 2]>,
    /// Each unit's sum at the touch `row, col`, with the sign that it has in the middle.
    units: Vec<Unit>,
    /// Weights of the terms behind the first, of jumps of `x`, and of `x^2`, packed.
    packed: Vec<f32>,
    /// The first term of each sum.
    constants: Vec<f32>,
}

/// `sign * (middle + row_slope * row + col_slope * col)`: above 0 in the middle.
#[derive(Clone, Copy, Debug, Default)]
struct Unit {
    sign: f32,
    middle: f32,
    row_slope: f32,
    col_slope: f32,
}

impl TouchPolynomial {
    /// For a touch stage of so many units with a nonlinearity, and so many sums behind it. `None` if it is not made of
    /// polynomials.
    pub fn new(nonlinearity: Nonlinearity, n_touch_units: usize, n_out: usize) -> Option<Self> {
        let sides = nonlinearity.side_polynomials()?;
        let mut new = Self {
            sides,
            n_touch_units,
            n_out,
            factors: vec![[[[0.0; N_LANES]; 2]; 2]; n_out.div_ceil(N_LANES) * n_touch_units],
            units: vec![Unit::default(); n_touch_units],
            packed: Vec::new(),
            constants: vec![0.0; n_out],
        };
        new.packed = vec![0.0; n_out * new.n_numbers()];
        Some(new)
    }

    /// Terms behind the first.
    fn n_monomials(&self) -> usize {
        if self.sides.have_squares() { N_TERMS - 1 } else { 2 }
    }

    /// The most numbers that a block has.
    pub fn n_numbers(&self) -> usize {
        let n_jumps = self.sides.differ().into_iter().filter(|&differ| differ).count();
        self.n_monomials() + n_jumps * self.n_touch_units
    }

    /// Takes the weights of the stage behind: of a sum, a part of the nonlinearity and a unit.
    pub fn load(&mut self, weight: impl Fn(usize, usize, usize) -> f32) {
        let (n_units, n_in, n_monomials) = (self.n_touch_units, self.n_numbers(), self.n_monomials());
        let differ = self.sides.differ();
        for (out, place) in packed_rows(self.n_out, n_in).enumerate() {
            let lane = out % N_LANES;
            let factors = &mut self.factors[out / N_LANES * n_units..][..n_units];
            for (unit, factors) in factors.iter_mut().enumerate() {
                let sides = self.sides.weighted(|part| weight(out, part, unit));
                for (factors, side) in factors.iter_mut().zip(sides) {
                    factors[0][lane] = side[0];
                    factors[1][lane] = side[1];
                }
                let [above, below] = sides;
                let mut column = n_monomials + unit;
                for power in (0..2).filter(|&power| differ[power]) {
                    self.packed[place.of(column)] = below[power] - above[power];
                    column += n_units;
                }
            }
        }
    }

    /// Finds the polynomials of a screen. `shared` are the touch stage's sums in the middle of the screen,
    /// `touch_weights` its two columns of the present touch, `biases` those of the stage behind.
    pub fn expand(
        &mut self,
        instructions: Instructions,
        shared: &[f32],
        touch_weights: Weights<'_>,
        biases: &[f32],
    ) {
        for (row, (unit, &shared)) in self.units.iter_mut().zip(shared).enumerate() {
            let slopes = touch_weights.row(row);
            let sign = if shared > 0.0 { 1.0 } else { -1.0 };
            let [middle, row_slope, col_slope] = [shared, slopes[0], slopes[1]].map(|x| sign * x);
            *unit = Unit { sign, middle, row_slope, col_slope };
        }
        instructions.run(Expand { polynomial: self, biases });
    }

    /// The stage's sums for some blocks of candidates: `out` is `[n_blocks, out_stride]`.
    #[inline(always)]
    pub fn block_products<'a, B: Numbers<Memory = Block>>(
        &self,
        active: impl Fn(usize) -> Active<'a>,
        out: &mut [Block],
        out_stride: usize,
    ) {
        block_products::<B>(&self.packed, &self.constants, active, out, out_stride);
    }

    /// What a block of candidates multiplies: monomials of its touches, and jumps that are not 0 for all of it.
    /// Gives how many.
    #[inline(always)]
    pub fn block_numbers<B: Numbers<Memory = Block>>(
        &self,
        rows: B::V,
        cols: B::V,
        columns: &mut [u32],
        numbers: &mut [Block],
    ) -> usize {
        let n_monomials = self.n_monomials();
        B::store(rows, &mut numbers[0]);
        B::store(cols, &mut numbers[1]);
        if n_monomials > 2 {
            B::store(B::mul(rows, rows), &mut numbers[2]);
            B::store(B::mul(rows, cols), &mut numbers[3]);
            B::store(B::mul(cols, cols), &mut numbers[4]);
        }
        columns[..n_monomials].iter_mut().enumerate().for_each(|(idx, column)| *column = idx as u32);
        match self.sides.differ() {
            [true, true] => self.jumps::<B, 2>(rows, cols, columns, numbers),
            [true, false] => self.jumps::<B, 1>(rows, cols, columns, numbers),
            [false, false] => n_monomials,
            [false, true] => unreachable!("no nonlinearity jumps in its square alone"),
        }
    }

    #[inline(always)]
    fn jumps<B: Numbers<Memory = Block>, const POWERS: usize>(
        &self,
        rows: B::V,
        cols: B::V,
        columns: &mut [u32],
        numbers: &mut [Block],
    ) -> usize {
        let first = self.n_monomials();
        let mut n = first;
        for (idx, unit) in self.units.iter().enumerate() {
            let (row_slope, col_slope) = (B::splat(unit.row_slope), B::splat(unit.col_slope));
            let x = B::mul_add(col_slope, cols, B::mul_add(row_slope, rows, B::splat(unit.middle)));
            // Below the middle's side, x; there, 0. The sign that x was turned by is that of the jump too.
            let off = B::min(B::zero(), x);
            B::store(off, &mut numbers[n]);
            if POWERS == 2 {
                B::store(B::mul(B::splat(unit.sign), B::mul(off, off)), &mut numbers[n + 1]);
            }
            for power in 0..POWERS {
                columns[n + power] = (first + power * self.n_touch_units + idx) as u32;
            }
            n += POWERS * usize::from(B::any_below_zero(x));
        }
        n
    }
}

struct Expand<'a> {
    polynomial: &'a mut TouchPolynomial,
    biases: &'a [f32],
}

impl Kernel for Expand<'_> {
    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let (n_in, n_monomials) = (self.polynomial.n_numbers(), self.polynomial.n_monomials());
        let TouchPolynomial { factors, units, packed, constants, .. } = self.polynomial;
        let mut rows = packed_rows(constants.len(), n_in);
        let outs = constants.chunks_mut(N_LANES).zip(self.biases.chunks(N_LANES));
        for ((constants, biases), factors) in outs.zip(factors.chunks_exact(units.len())) {
            let terms = sum_terms::<A>(units, factors).map(A::stored);
            for (lane, (constant, bias)) in constants.iter_mut().zip(biases).enumerate() {
                *constant = bias + terms[0][lane];
                let place = rows.next().expect("one for each sum");
                for (monomial, term) in terms[1..=n_monomials].iter().enumerate() {
                    packed[place.of(monomial)] = term[lane];
                }
            }
        }
    }
}

/// The terms of eight sums, summed over all units.
#[inline(always)]
fn sum_terms<A: Arithmetic>(units: &[Unit], factors: &[[[Lanes; 2]; 2]]) -> [A::V; N_TERMS] {
    let mut terms = [A::zero(); N_TERMS];
    for (unit, factors) in units.iter().zip(factors) {
        let Unit { sign, middle, row_slope, col_slope } = *unit;
        let [linear, square] = if sign > 0.0 { &factors[0] } else { &factors[1] };
        let (linear, square) = (A::load(linear), A::load(square));
        for (term, coordinate) in terms.iter_mut().zip([middle, row_slope, col_slope]) {
            *term = A::mul_add(linear, A::splat(sign * coordinate), *term);
        }
        // Of squares the sign does not matter.
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
