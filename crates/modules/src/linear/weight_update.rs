//! `d^T x`, the gradient of a layer's weights over some steps, given to a rule piece by piece and never stored whole.

use crate::arithmetic::{Arithmetic, Block, Instructions, Kernel, N_BLOCK, SimdVector};
use crate::linear::InputRows;

/// Inputs of a piece: those of all steps stay in a cache.
const INPUTS: usize = 512;
/// Up to this many steps, inputs are packed if there are enough units to gain by it and rows are so long that each
/// begins in another page.
const PACKED_STEPS: usize = 32;
const PACKED_UNITS: usize = 32;
const LONG: usize = 4096;
/// Up to this many steps, rows are located once per piece.
const NEAR_STEPS: usize = 64;

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
        let Target { stride, n_out, .. } = self.target;
        let n_steps = self.d.len() / n_out;
        let n_cols = if n_steps == 0 { 0 } else { self.inputs.row(0).len() };
        let is_packed = stride > LONG && n_steps <= PACKED_STEPS && n_out >= PACKED_UNITS;
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
            // Rows and their rests are found once, not for each strip.
            let (mut rows, mut rests) = ([&[][..]; NEAR_STEPS], [[0.0; N_BLOCK]; NEAR_STEPS]);
            for (step, (blocks, rest)) in rows[..n_steps].iter_mut().zip(&mut rests).enumerate() {
                let numbers;
                (*blocks, numbers) = row(step).as_chunks::<N_BLOCK>();
                rest[..numbers.len()].copy_from_slice(numbers);
            }
            if is_packed {
                let mut packed = [[[0.0; N_BLOCK]; PACKED_STEPS]; INPUTS / N_BLOCK];
                for (step, (blocks, rest)) in rows[..n_steps].iter().zip(rests).enumerate() {
                    blocks
                        .iter()
                        .chain([&rest])
                        .zip(&mut packed)
                        .for_each(|(block, packed)| packed[step] = *block);
                }
                self.tiles::<A>(piece, col, |block, step| A::Blocks::load(&packed[block][step]));
            } else {
                self.tiles::<A>(piece, col, |block, step| {
                    A::Blocks::load(rows[step].get(block).unwrap_or(&rests[step]))
                });
            }
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
            true if piece.len >= 8 * N_BLOCK => self.units::<A, 2, 8>(piece, col, load),
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
        let strip_len = BLOCKS * N_BLOCK;
        let n_in_strips = len / strip_len * strip_len;
        let at = |unit: usize| start + unit * stride + first_col + col;
        for first in (0..n_out).step_by(UNITS) {
            // Where fewer units are left, the last is computed several times.
            let d = |step: usize, unit: usize| d[step * n_out + (first + unit).min(n_out - 1)];
            // Strip by strip: the rule divides while the next strip is summed.
            for done in (0..n_in_strips).step_by(strip_len) {
                // The parameters of the next units are fetched meanwhile. Processors with wide registers fetch long
                // rows by themselves; prefetching costs them a tenth of an update.
                if !A::HAS_32_REGISTERS {
                    (first + UNITS..n_out.min(first + 2 * UNITS))
                        .for_each(|unit| rule.expect::<A>(at(unit) + done, strip_len));
                }
                let load = |block, step| load(done / N_BLOCK + block, step);
                let sums = sum_strip::<A::Blocks, UNITS, BLOCKS>(n_steps, d, load);
                give::<A, UNITS, BLOCKS>(sums, strip_len, (first..n_out).map(|unit| at(unit) + done), *rule);
            }
            for done in (n_in_strips..len).step_by(N_BLOCK) {
                let sums = sum_strip::<A::Blocks, UNITS, 1>(n_steps, d, |_, step| load(done / N_BLOCK, step));
                let n = N_BLOCK.min(len - done);
                give::<A, UNITS, 1>(sums, n, (first..n_out).map(|unit| at(unit) + done), *rule);
            }
        }
    }
}

/// Gives `n` sums of each unit to the rule.
#[inline(always)]
fn give<A: Arithmetic, const UNITS: usize, const BLOCKS: usize>(
    sums: [[<A::Blocks as SimdVector>::V; BLOCKS]; UNITS],
    n: usize,
    places: impl Iterator<Item = usize>,
    rule: &mut impl UpdateRule,
) {
    for (sums, at) in sums.into_iter().zip(places) {
        let mut gradient = [[0.0; N_BLOCK]; BLOCKS];
        gradient.iter_mut().zip(sums).for_each(|(g, sum)| A::Blocks::store(sum, g));
        rule.apply::<A>(at, &gradient.as_flattened()[..n]);
    }
}

/// Sums of a strip over steps, in their order.
#[inline(always)]
fn sum_strip<B: SimdVector<Memory = Block>, const UNITS: usize, const BLOCKS: usize>(
    n_steps: usize,
    d: impl Fn(usize, usize) -> f32,
    load: impl Fn(usize, usize) -> B::V,
) -> [[B::V; BLOCKS]; UNITS] {
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
    sums
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
