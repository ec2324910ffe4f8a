//! `d^T x`, the gradient of a layer's weights over some steps, given to a rule piece by piece and never stored whole.

use crate::arithmetic::{
    Arithmetic, Block, Instructions, Kernel, N_BLOCK, N_LANES, SimdVector, load_from, store_from,
};
use crate::linear::InputRows;

/// Inputs of a piece: those of all steps stay in a cache.
const INPUTS: usize = 512;
/// The inputs of at most so many steps are put together, if there are enough units to gain by it and rows are so long that
/// each begins in another page.
const PACKED_STEPS: usize = 32;
const PACKED_UNITS: usize = 32;
const LONG: usize = 4096;
/// Of so many steps at most, rows are found once for a piece.
const NEAR_STEPS: usize = 64;

/// Inputs of some steps that stand together: one block of each step after another.
type PackedPiece = [[Block; PACKED_STEPS]; INPUTS / N_BLOCK];

/// What is done with a gradient.
pub(crate) trait UpdateRule {
    /// Takes the gradient of the weights from `at` on, no more than [`INPUTS`].
    fn apply<A: Arithmetic>(&mut self, at: usize, gradient: &[f32]);

    /// The gradient of these weights will come soon.
    fn expect<A: Arithmetic>(&self, at: usize, len: usize) {
        let _ = (at, len);
    }
}

/// Which weights: some columns of a matrix that begins at `start`.
#[derive(Clone, Copy)]
pub(crate) struct Target {
    pub start: usize,
    pub stride: usize,
    pub first_col: usize,
    pub n_out: usize,
}

/// Gives the gradient of the target's weights to the rule. `d` is `[n_steps, n_out]`, inputs are `[n_steps]` rows.
pub(crate) fn update_weights<'a>(
    instructions: Instructions,
    target: Target,
    d: &[f32],
    inputs: impl InputRows<'a>,
    rule: &mut impl UpdateRule,
) {
    instructions.run(Update { target, d, inputs, rule });
}

/// Gives the gradient of biases to the rule: `d` summed over the steps.
pub(crate) fn update_biases(
    instructions: Instructions,
    start: usize,
    n_out: usize,
    d: &[f32],
    rule: &mut impl UpdateRule,
) {
    instructions.run(BiasUpdate { start, n_out, d, rule });
}

/// Gives a gradient that stands whole to the rule, from the first parameter on.
pub(crate) fn apply_whole(instructions: Instructions, gradient: &[f32], rule: &mut impl UpdateRule) {
    let all = Target { start: 0, stride: gradient.len(), first_col: 0, n_out: 1 };
    apply_rows(instructions, all, gradient, rule);
}

/// Gives the gradient of the target's weights to the rule; it stands whole, `[n_out, n_cols]`.
pub(crate) fn apply_rows(
    instructions: Instructions,
    target: Target,
    gradient: &[f32],
    rule: &mut impl UpdateRule,
) {
    instructions.run(ApplyRows { target, gradient, rule });
}

struct ApplyRows<'o, U> {
    target: Target,
    gradient: &'o [f32],
    rule: &'o mut U,
}

impl<U: UpdateRule> Kernel for ApplyRows<'_, U> {
    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let Self { target: Target { start, stride, first_col, n_out }, gradient, rule } = self;
        for (unit, row) in gradient.chunks_exact((gradient.len() / n_out).max(1)).enumerate() {
            for (idx, piece) in row.chunks(INPUTS).enumerate() {
                rule.apply::<A>(start + unit * stride + first_col + idx * INPUTS, piece);
            }
        }
    }
}

struct Update<'o, R, U> {
    target: Target,
    d: &'o [f32],
    inputs: R,
    rule: &'o mut U,
}

impl<'a, R: InputRows<'a>, U: UpdateRule> Kernel for Update<'_, R, U> {
    #[inline(always)]
    fn run<A: Arithmetic>(mut self) {
        let Target { stride, n_out, .. } = self.target;
        let n_steps = self.d.len() / n_out;
        let n_cols = if n_steps == 0 { 0 } else { self.inputs.row(0).len() };
        let is_packed = stride > LONG && n_steps <= PACKED_STEPS && n_out >= PACKED_UNITS;
        // Inputs outside, so that those of all steps stay in a cache for all units.
        for col in (0..n_cols).step_by(INPUTS) {
            let piece = Piece { n_steps, col, len: INPUTS.min(n_cols - col) };
            if is_packed {
                let mut packed = [[[0.0; N_BLOCK]; PACKED_STEPS]; INPUTS / N_BLOCK];
                pack(&mut packed, self.inputs, piece);
                self.tiles::<A>(piece, |block, step| &packed[block][step]);
            } else if n_steps <= NEAR_STEPS {
                // Where rows are is found once, not for each strip.
                let mut rows: [&[f32]; NEAR_STEPS] = [&[]; NEAR_STEPS];
                for (step, row) in rows[..n_steps].iter_mut().enumerate() {
                    *row = &self.inputs.row(step)[col..col + piece.len];
                }
                self.tiles::<A>(piece, |block, step| block_at(rows[step], block));
            } else {
                let inputs = self.inputs;
                self.tiles::<A>(piece, |block, step| block_at(&inputs.row(step)[col..], block));
            }
        }
    }
}

#[inline(always)]
fn block_at(row: &[f32], block: usize) -> &Block {
    row[block * N_BLOCK..].first_chunk().expect("a whole block")
}

/// Some inputs of some steps.
#[derive(Clone, Copy)]
struct Piece {
    n_steps: usize,
    col: usize,
    len: usize,
}

/// Puts the inputs of all steps together, block by block.
#[inline(always)]
fn pack<'a>(packed: &mut PackedPiece, inputs: impl InputRows<'a>, piece: Piece) {
    let Piece { n_steps, col, len } = piece;
    for step in 0..n_steps {
        let blocks = inputs.row(step)[col..col + len].as_chunks::<N_BLOCK>().0;
        blocks.iter().zip(&mut *packed).for_each(|(block, packed)| packed[step] = *block);
    }
}

impl<'a, R: InputRows<'a>, U: UpdateRule> Update<'_, R, U> {
    /// A piece, of all units: as many sums side by side as there are registers for.
    #[inline(always)]
    fn tiles<'x, A: Arithmetic>(&mut self, piece: Piece, block_of: impl Fn(usize, usize) -> &'x Block) {
        match A::HAS_32_REGISTERS {
            true if piece.len >= 8 * N_BLOCK => self.units::<A, 2, 8>(piece, block_of),
            true => self.units::<A, 8, 2>(piece, block_of),
            false => self.units::<A, 2, 2>(piece, block_of),
        }
    }

    /// `UNITS` units and `BLOCKS` blocks of inputs at a time.
    #[inline(always)]
    fn units<'x, A: Arithmetic, const UNITS: usize, const BLOCKS: usize>(
        &mut self,
        piece: Piece,
        block_of: impl Fn(usize, usize) -> &'x Block,
    ) {
        let Self { target: Target { start, stride, first_col, n_out }, d, inputs, ref mut rule } = *self;
        let strip_len = BLOCKS * N_BLOCK;
        let n_strips = piece.len / strip_len;
        let at = |unit: usize| start + unit * stride + first_col + piece.col;
        for first in (0..n_out).step_by(UNITS) {
            // Where fewer are left, the last stands for those that are not there.
            let d = |step: usize, unit: usize| d[step * n_out + (first + unit).min(n_out - 1)];
            // Strip by strip: the rule divides while the next strip is summed.
            for strip in 0..n_strips {
                // Those of the next units come from far away meanwhile. Processors with wide registers fetch long rows by
                // themselves, and lose by being told (measured: a tenth of an update).
                if !A::HAS_32_REGISTERS {
                    (first + UNITS..n_out.min(first + 2 * UNITS))
                        .for_each(|unit| rule.expect::<A>(at(unit) + strip * strip_len, strip_len));
                }
                let sums = sum_strip::<A::Blocks, UNITS, BLOCKS>(piece.n_steps, d, |block, step| {
                    block_of(strip * BLOCKS + block, step)
                });
                for (sums, unit) in sums.into_iter().zip(first..n_out) {
                    let mut gradient = [[0.0; N_BLOCK]; BLOCKS];
                    gradient.iter_mut().zip(sums).for_each(|(g, sum)| A::Blocks::store(sum, g));
                    rule.apply::<A>(at(unit) + strip * strip_len, gradient.as_flattened());
                }
            }
            let done = n_strips * strip_len;
            if done < piece.len {
                let rest = Piece { col: piece.col + done, len: piece.len - done, ..piece };
                let mut sums = [[[0.0; N_BLOCK]; BLOCKS]; UNITS];
                sum_rest::<A, R, UNITS>(
                    &mut sums.each_mut().map(|sums| sums.as_flattened_mut()),
                    rest,
                    d,
                    inputs,
                );
                for (sums, unit) in sums.iter().zip(first..n_out) {
                    rule.apply::<A>(at(unit) + done, &sums.as_flattened()[..rest.len]);
                }
            }
        }
    }
}

/// Sums of a strip over steps, in their order.
#[inline(always)]
fn sum_strip<'x, B: SimdVector<Memory = Block>, const UNITS: usize, const BLOCKS: usize>(
    n_steps: usize,
    d: impl Fn(usize, usize) -> f32,
    block_of: impl Fn(usize, usize) -> &'x Block,
) -> [[B::V; BLOCKS]; UNITS] {
    let mut sums = [[B::zero(); BLOCKS]; UNITS];
    for step in 0..n_steps {
        // Plain loops: what `map` and `from_fn` are given is not always compiled into its caller, and would be called here.
        let mut x = [B::zero(); BLOCKS];
        for (block, x) in x.iter_mut().enumerate() {
            *x = B::load(block_of(block, step));
        }
        for (unit, sums) in sums.iter_mut().enumerate() {
            let d = B::splat(d(step, unit));
            for (sum, &x) in sums.iter_mut().zip(&x) {
                *sum = B::mul_add(d, x, *sum);
            }
        }
    }
    sums
}

/// The same of what is left behind the last strip.
#[inline(always)]
fn sum_rest<'a, A: Arithmetic, R: InputRows<'a>, const UNITS: usize>(
    sums: &mut [&mut [f32]; UNITS],
    piece: Piece,
    d: impl Fn(usize, usize) -> f32,
    inputs: R,
) {
    for step in 0..piece.n_steps {
        let x = &inputs.row(step)[piece.col..piece.col + piece.len];
        for (unit, sums) in sums.iter_mut().enumerate() {
            let d = d(step, unit);
            for start in (0..piece.len).step_by(N_LANES) {
                let sum = A::mul_add(A::splat(d), load_from::<A>(x, start), load_from::<A>(sums, start));
                store_from::<A>(sum, &mut sums[..piece.len], start);
            }
        }
    }
}

struct BiasUpdate<'o, U> {
    start: usize,
    n_out: usize,
    d: &'o [f32],
    rule: &'o mut U,
}

impl<U: UpdateRule> Kernel for BiasUpdate<'_, U> {
    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let Self { start, n_out, d, rule } = self;
        for unit in (0..n_out).step_by(INPUTS) {
            let len = INPUTS.min(n_out - unit);
            let mut sums = [0.0; INPUTS];
            for d in d.chunks_exact(n_out) {
                sums.iter_mut().zip(&d[unit..unit + len]).for_each(|(sum, d)| *sum += d);
            }
            rule.apply::<A>(start + unit, &sums[..len]);
        }
    }
}

/// Adds the gradient to a buffer as long as the parameters, and changes no weight.
pub(crate) struct Accumulate<'a>(pub &'a mut [f32]);

impl UpdateRule for Accumulate<'_> {
    #[inline(always)]
    fn apply<A: Arithmetic>(&mut self, at: usize, gradient: &[f32]) {
        self.0[at..at + gradient.len()].iter_mut().zip(gradient).for_each(|(sum, g)| *sum += g);
    }
}
