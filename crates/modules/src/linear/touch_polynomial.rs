//! The stage after the one that reads the touch, for nonlinearities that are polynomials on either side of 0.
//!
//! A unit's pre-activation is linear in the touch. While the unit stays on the side of 0 on which it is in the middle of the screen,
//! its output is a polynomial of the touch, of degree two at most; so is the next stage's weighted sum over all units. That one
//! polynomial is computed once per screen. A block of candidates evaluates it, and adds the jumps of
//! the few units that are on their other side somewhere in the block.

use crate::arithmetic::{Arithmetic, Block, Instructions, Kernel, N_BLOCK, SimdVector};
use crate::linear::Weights;
use crate::linear::candidates::{Active, PackedRow, packed_rows, tile_products};
use crate::linear::polynomial_terms::{N_LINEAR_TERMS, N_TERMS, Terms};
use crate::linear::touch_units::{Bounds, Unit, UnitBlock};
use crate::nonlinearity::{MAX_PARTS, Nonlinearity, SidePolynomials, with_known};

/// The polynomials of a stage's pre-activations, and the jumps of the units before it.
#[derive(Clone, Debug)]
pub(crate) struct TouchPolynomial {
    nonlinearity: Nonlinearity,
    sides: SidePolynomials,
    /// Units of the stage that reads the touch.
    n_touch_units: usize,
    terms: Terms,
    units: Vec<Unit>,
    /// The same units, 16 at a time.
    unit_blocks: Vec<UnitBlock>,
    /// Weights of the terms after the first, of jumps of `x`, and of jumps of `x^2`, as products read them.
    pub(super) packed: Vec<f32>,
    /// The first term of each output.
    pub(super) constants: Vec<f32>,
}

impl TouchPolynomial {
    /// For a touch stage of `n_touch_units` and a next stage of `n_out` units. `None` if the nonlinearity is not polynomial.
    pub fn new(nonlinearity: Nonlinearity, n_touch_units: usize, n_out: usize) -> Option<Self> {
        let sides = nonlinearity.side_polynomials()?;
        let mut new = Self {
            nonlinearity,
            sides,
            n_touch_units,
            terms: Terms::new(sides, n_touch_units, n_out),
            units: vec![Unit::default(); n_touch_units],
            unit_blocks: vec![UnitBlock::NO_UNITS; n_touch_units.div_ceil(N_BLOCK)],
            packed: Vec::new(),
            constants: vec![0.0; n_out],
        };
        new.packed = vec![0.0; n_out * new.n_inputs()];
        Some(new)
    }

    /// The nonlinearity of the touch stage.
    pub fn nonlinearity(&self) -> Nonlinearity {
        self.nonlinearity
    }

    /// Terms after the first.
    fn n_monomials(&self) -> usize {
        if self.sides.have_squares() { N_TERMS - 1 } else { N_LINEAR_TERMS - 1 }
    }

    /// Inputs of the products: monomials and all jumps.
    pub fn n_inputs(&self) -> usize {
        let n_jumps = self.sides.differ().into_iter().filter(|&differ| differ).count();
        self.n_monomials() + n_jumps * self.n_touch_units
    }

    /// Loads the weights of the next stage. Touch units are in `n_runs` runs of equal length; `weights(out, part, run)` are the
    /// weights with which an output reads one part of the nonlinearity of a run's units.
    pub fn load<'w>(&mut self, n_runs: usize, weights: impl Fn(usize, usize, usize) -> &'w [f32]) {
        with_known!(self.nonlinearity, |known| self.load_known(known, n_runs, weights));
    }

    #[inline(always)]
    fn load_known<'w>(
        &mut self,
        known: Nonlinearity,
        n_runs: usize,
        weights: impl Fn(usize, usize, usize) -> &'w [f32],
    ) {
        let sides = known.side_polynomials().expect("checked by new");
        let (differ, n_parts) = (sides.differ(), known.n_parts());
        let (n_out, n_units, n_in) = (self.constants.len(), self.n_touch_units, self.n_inputs());
        let (n_monomials, run_len) = (self.n_monomials(), n_units / n_runs);
        let mut all_rows = packed_rows(n_out, n_in);
        // Sixteen outputs and units at a time: what is read and written stays in the first-level cache.
        for (out_block, first_out) in (0..n_out).step_by(N_BLOCK).enumerate() {
            let n = N_BLOCK.min(n_out - first_out);
            let mut rows = [PackedRow::default(); N_BLOCK];
            rows[..n].fill_with(|| all_rows.next().expect("one for each output"));
            for (run, start) in
                (0..n_runs).flat_map(|run| (0..run_len).step_by(N_BLOCK).map(move |start| (run, start)))
            {
                let len = N_BLOCK.min(run_len - start);
                let first_unit = run * run_len + start;
                let mut factors = [[[[0.0; N_BLOCK]; 2]; 2]; N_BLOCK];
                for (lane, row) in rows[..n].iter().enumerate() {
                    let mut of_parts: [&[f32]; MAX_PARTS] = [&[]; MAX_PARTS];
                    for (part, of_part) in of_parts[..n_parts].iter_mut().enumerate() {
                        *of_part = &weights(first_out + lane, part, run)[start..start + len];
                    }
                    for (unit, factors) in factors[..len].iter_mut().enumerate() {
                        let [above, below] = sides.weighted(|part| of_parts[part][unit]);
                        let mut column = n_monomials + first_unit + unit;
                        for power in 0..2 {
                            factors[0][power][lane] = above[power];
                            factors[1][power][lane] = below[power];
                            if differ[power] {
                                self.packed[row.of(column)] = below[power] - above[power];
                                column += n_units;
                            }
                        }
                    }
                }
                self.terms.set(n_units, out_block, first_unit, &factors[..len]);
            }
        }
    }

    /// Computes the polynomials of a screen. `shared` are the touch stage's pre-activations in the middle of the screen,
    /// `touch_weights` its two columns of the current touch, `biases` those of the next stage.
    pub fn expand(
        &mut self,
        instructions: Instructions,
        shared: &[f32],
        touch_weights: Weights<'_>,
        biases: &[f32],
    ) {
        for (row, (unit, &shared)) in self.units.iter_mut().zip(shared).enumerate() {
            let slopes = touch_weights.row(row);
            *unit = Unit::new([shared, slopes[0], slopes[1]]);
            self.unit_blocks[row / N_BLOCK].set(row % N_BLOCK, *unit);
        }
        instructions.run(Expand { polynomial: self, biases });
    }

    /// The stage's pre-activations for some tiles of candidates: `out` is `[n_tiles, out_stride, TILE]`.
    #[inline(always)]
    pub fn tile_products<'a, B: SimdVector<Memory = Block>, const TILE: usize>(
        &self,
        active: impl Fn(usize) -> Active<'a>,
        out: &mut [Block],
        out_stride: usize,
    ) {
        tile_products::<B, TILE>(&self.packed, &self.constants, active, out, out_stride);
    }

    /// Sets the inputs of a tile's products, `[n, TILE]`: monomials of its touches, and jumps that are not 0 for all of it. Returns `n`.
    /// `touches` are rows and columns of each block.
    #[inline(always)]
    pub fn tile_inputs<B: SimdVector<Memory = Block>, const TILE: usize>(
        &self,
        touches: [(B::V, B::V); TILE],
        columns: &mut [u32],
        inputs: &mut [Block],
    ) -> usize {
        let n_monomials = self.n_monomials();
        let inputs = inputs.as_chunks_mut::<TILE>().0;
        for (block, (rows, cols)) in touches.into_iter().enumerate() {
            B::store(rows, &mut inputs[0][block]);
            B::store(cols, &mut inputs[1][block]);
            if n_monomials > 2 {
                B::store(B::mul(rows, rows), &mut inputs[2][block]);
                B::store(B::mul(rows, cols), &mut inputs[3][block]);
                B::store(B::mul(cols, cols), &mut inputs[4][block]);
            }
        }
        columns[..n_monomials].iter_mut().enumerate().for_each(|(idx, column)| *column = idx as u32);
        match self.sides.differ() {
            [true, true] => self.jumps::<B, TILE, 2>(touches, columns, inputs),
            [true, false] => self.jumps::<B, TILE, 1>(touches, columns, inputs),
            [false, false] => n_monomials,
            [false, true] => unreachable!("no nonlinearity jumps in its square alone"),
        }
    }

    #[inline(always)]
    fn jumps<B: SimdVector<Memory = Block>, const TILE: usize, const POWERS: usize>(
        &self,
        touches: [(B::V, B::V); TILE],
        columns: &mut [u32],
        inputs: &mut [[Block; TILE]],
    ) -> usize {
        let first = self.n_monomials();
        let mut n = first;
        let bounds = Bounds::of(&inputs[0], &inputs[1]);
        for (idx, units) in self.unit_blocks.iter().enumerate() {
            let mut below = units.below_in::<B>(bounds);
            while below != 0 {
                let lane = below.trailing_zeros() as usize % N_BLOCK;
                below &= below - 1;
                let (row_slope, col_slope) =
                    (B::splat(units.row_slopes[lane]), B::splat(units.col_slopes[lane]));
                let mut jumps = false;
                for (block, (rows, cols)) in touches.into_iter().enumerate() {
                    let with_row = B::mul_add(row_slope, rows, B::splat(units.middles[lane]));
                    let x = B::mul_add(col_slope, cols, with_row);
                    // `x` on the other side, else 0. The unit's sign is that of the jump of `x^2`.
                    let off = B::min(B::zero(), x);
                    B::store(off, &mut inputs[n][block]);
                    if POWERS == 2 {
                        let square = B::mul(B::splat(units.signs[lane]), B::mul(off, off));
                        B::store(square, &mut inputs[n + 1][block]);
                    }
                    jumps |= B::any_below_zero(x);
                }
                for power in 0..POWERS {
                    columns[n + power] = (first + power * self.n_touch_units + idx * N_BLOCK + lane) as u32;
                }
                n += POWERS * usize::from(jumps);
            }
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
        let (n_in, n_out) = (self.polynomial.n_inputs(), self.biases.len());
        let TouchPolynomial { terms, units, packed, constants, .. } = self.polynomial;
        let mut rows = packed_rows(n_out, n_in);
        terms.sum::<A>(units, n_out, |out, terms| {
            constants[out] = self.biases[out] + terms[0];
            let row = rows.next().expect("one for each output");
            for (monomial, &term) in terms[1..].iter().enumerate() {
                packed[row.of(monomial)] = term;
            }
        });
    }
}
