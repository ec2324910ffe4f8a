//! `d^T x`, the gradient of a layer's weights over some steps, given to a rule piece by piece and never stored whole.

use crate::arithmetic::{Arithmetic, Block, Instructions, Kernel, N_BLOCK, SimdVector};
use crate::linear::InputRows;

/// Inputs of a piece: those of all steps, and the gradient of a few units, stay in the first-level cache.
const INPUTS: usize = 256;
/// Up to this many steps, rows are located once per piece.
const NEAR_STEPS: usize = 64;
/// From this many weights on, parameters come from memory or a cache far away.
const FAR_WEIGHTS: usize = 1 << 20;

/// Consumes a gradient.
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

/// Passes the gradient of the target's weights to the rule. `d` is `[n_steps, n_out]`, inputs are `[n_steps]` rows.
pub(crate) fn update_weights<'a>(
    instructions: Instructions,
    target: Target,
    d: &[f32],
    inputs: impl InputRows<'a>,
    rule: &mut impl UpdateRule,
) {
    instructions.run(Update { target, d, inputs, rule });
}

/// Passes the gradient of biases to the rule: `d` summed over the steps.
pub(crate) fn update_biases(
    instructions: Instructions,
    start: usize,
    n_out: usize,
    d: &[f32],
    rule: &mut impl UpdateRule,
) {
    instructions.run(BiasUpdate { start, n_out, d, rule });
}

/// Passes a stored gradient to the rule, from the first parameter on.
pub(crate) fn apply_whole(instructions: Instructions, gradient: &[f32], rule: &mut impl UpdateRule) {
    let all = Target { start: 0, stride: gradient.len(), first_col: 0, n_out: 1 };
    apply_rows(instructions, all, gradient, rule);
}

/// Passes the stored gradient of the target's weights, `[n_out, n_cols]`, to the rule.
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
        let n_steps = self.d.len() / self.target.n_out;
        let n_cols = if n_steps == 0 { 0 } else { self.inputs.row(0).len() };
        // Inputs in the outer loop, so that those of all steps stay in a cache for all units.
        for col in (0..n_cols).step_by(INPUTS) {
            let piece = Piece { n_steps, len: INPUTS.min(n_cols - col) };
            let inputs = self.inputs;
            let row = |step: usize| &inputs.row(step)[col..col + piece.len];
            if n_steps > NEAR_STEPS {
                self.tiles::<A>(piece, col, |block, step| match row(step)[block * N_BLOCK..].first_chunk() {
                    Some(block) => A::Blocks::load(block),
                    None => A::Blocks::load(&padded_block(&row(step)[block * N_BLOCK..])),
                });
                continue;
            }
            // Rows and their rests are found once, not for each tile.
            let (mut rows, mut rests) = ([&[][..]; NEAR_STEPS], [[0.0; N_BLOCK]; NEAR_STEPS]);
            for (step, (blocks, rest)) in rows[..n_steps].iter_mut().zip(&mut rests).enumerate() {
                let numbers;
                (*blocks, numbers) = row(step).as_chunks::<N_BLOCK>();
                rest[..numbers.len()].copy_from_slice(numbers);
            }
            self.tiles::<A>(piece, col, |block, step| {
                A::Blocks::load(rows[step].get(block).unwrap_or(&rests[step]))
            });
        }
    }
}

/// Some inputs of a batch of steps.
#[derive(Clone, Copy)]
struct Piece {
    n_steps: usize,
    len: usize,
}

fn padded_block(numbers: &[f32]) -> Block {
    let mut block = [0.0; N_BLOCK];
    block[..numbers.len()].copy_from_slice(numbers);
    block
}

impl<'a, R: InputRows<'a>, U: UpdateRule> Update<'_, R, U> {
    /// A piece of the inputs from `col` on, for all units: as many accumulators as there are registers for. `load`
    /// gives a block of a step's inputs, zeros after the last one.
    #[inline(always)]
    fn tiles<A: Arithmetic>(
        &mut self,
        piece: Piece,
        col: usize,
        load: impl Fn(usize, usize) -> <A::Blocks as SimdVector>::V,
    ) {
        match A::HAS_32_REGISTERS {
            true if piece.len >= 4 * N_BLOCK => self.units::<A, 4, 4>(piece, col, load),
            true => self.units::<A, 8, 2>(piece, col, load),
            false => self.units::<A, 2, 2>(piece, col, load),
        }
    }

    /// `UNITS` units and `BLOCKS` blocks of inputs at a time.
    #[inline(always)]
    fn units<A: Arithmetic, const UNITS: usize, const BLOCKS: usize>(
        &mut self,
        Piece { n_steps, len }: Piece,
        col: usize,
        load: impl Fn(usize, usize) -> <A::Blocks as SimdVector>::V,
    ) {
        let Self { target: Target { start, stride, first_col, n_out }, d, ref mut rule, .. } = *self;
        let at = |unit: usize| start + unit * stride + first_col + col;
        let n_blocks = len.div_ceil(N_BLOCK);
        let n_tiled = len / N_BLOCK / BLOCKS * BLOCKS;
        let mut gradient = [[[0.0; N_BLOCK]; INPUTS / N_BLOCK]; UNITS];
        for first in (0..n_out).step_by(UNITS) {
            let units = first..n_out.min(first + UNITS);
            if n_out * stride >= FAR_WEIGHTS {
                let next = units.end..n_out.min(units.end + UNITS);
                next.for_each(|unit| rule.expect::<A>(at(unit), len));
            }
            // Where fewer units are left, the last is computed several times.
            let d = |step: usize, unit: usize| d[step * n_out + (first + unit).min(n_out - 1)];
            for block in (0..n_tiled).step_by(BLOCKS) {
                let load = |idx, step| load(block + idx, step);
                sum_tile::<A::Blocks, UNITS, BLOCKS>(n_steps, d, load, block, &mut gradient);
            }
            for block in n_tiled..n_blocks {
                sum_tile::<A::Blocks, UNITS, 1>(
                    n_steps,
                    d,
                    |_, step| load(block, step),
                    block,
                    &mut gradient,
                );
            }
            // A whole piece of each row at once: the rule's roots and divisions follow each other without a pause.
            for (unit, gradient) in units.zip(&gradient) {
                rule.apply::<A>(at(unit), &gradient.as_flattened()[..len]);
            }
        }
    }
}

/// Sums over steps, in their order; stored in the gradient from a block on.
#[inline(always)]
fn sum_tile<B: SimdVector<Memory = Block>, const UNITS: usize, const BLOCKS: usize>(
    n_steps: usize,
    d: impl Fn(usize, usize) -> f32,
    load: impl Fn(usize, usize) -> B::V,
    first_block: usize,
    gradient: &mut [[Block; INPUTS / N_BLOCK]; UNITS],
) {
    let mut sums = [[B::zero(); BLOCKS]; UNITS];
    for step in 0..n_steps {
        // Plain loops: closures passed to `map` and `from_fn` are not always inlined.
        let mut x = [B::zero(); BLOCKS];
        for (block, x) in x.iter_mut().enumerate() {
            *x = load(block, step);
        }
        for (unit, sums) in sums.iter_mut().enumerate() {
            let d = B::splat(d(step, unit));
            for (sum, &x) in sums.iter_mut().zip(&x) {
                *sum = B::mul_add(d, x, *sum);
            }
        }
    }
    for (sums, gradient) in sums.into_iter().zip(gradient) {
        sums.into_iter().zip(&mut gradient[first_block..]).for_each(|(sum, out)| B::store(sum, out));
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
