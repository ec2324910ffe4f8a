//! `d^T x`, the gradient of a layer's weights over some steps, given to a rule piece by piece and never stored whole.

use crate::arithmetic::{Arithmetic, Instructions, Kernel, Lanes, N_LANES};
use crate::linear::InputRows;

/// Units, and registers of inputs, whose gradient is summed side by side.
const UNITS: usize = 2;
const REGISTERS: usize = 4;
/// Inputs of one piece: its gradient stays in the first cache.
const INPUTS: usize = 512;
const CHUNKS: usize = INPUTS / N_LANES;
/// The inputs of at most so many steps are put together, if there are enough units to gain by it and rows are so long that
/// each begins in another page.
const PACKED_STEPS: usize = 32;
const PACKED_UNITS: usize = 32;
const LONG: usize = 4096;
type Strip = [Lanes; REGISTERS];

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
            let len = INPUTS.min(n_cols - col);
            match is_packed {
                true => self.packed_piece::<A>(n_steps, col, len),
                false => {
                    let inputs = self.inputs;
                    self.piece::<A>(n_steps, col, len, |strip, step| {
                        let first = col + strip * REGISTERS * N_LANES;
                        let x = &inputs.row(step)[first..first + REGISTERS * N_LANES];
                        &x.as_chunks::<N_LANES>().0.as_chunks::<REGISTERS>().0[0]
                    });
                }
            }
        }
    }
}

impl<'a, R: InputRows<'a>, U: UpdateRule> Update<'_, R, U> {
    /// The same as [`Update::piece`], after putting its inputs together.
    #[inline(always)]
    fn packed_piece<A: Arithmetic>(&mut self, n_steps: usize, col: usize, len: usize) {
        let mut packed = [[[[0.0; N_LANES]; REGISTERS]; PACKED_STEPS]; CHUNKS / REGISTERS];
        pack(&mut packed, self.inputs, n_steps, col, len);
        self.piece::<A>(n_steps, col, len, |strip, step| &packed[strip][step]);
    }

    /// Some inputs, of all units.
    #[inline(always)]
    fn piece<'x, A: Arithmetic>(
        &mut self,
        n_steps: usize,
        col: usize,
        len: usize,
        strip_of: impl Fn(usize, usize) -> &'x Strip,
    ) {
        let Self { target: Target { start, stride, first_col, n_out }, d, inputs, ref mut rule } = *self;
        for unit in (0..n_out).step_by(UNITS) {
            let at = |unit: usize| start + unit * stride + first_col + col;
            // They come from far away while the gradient is summed.
            (unit..n_out.min(unit + UNITS)).for_each(|unit| rule.expect::<A>(at(unit), len));
            let mut gradient: [[Lanes; CHUNKS]; UNITS] = [[[0.0; N_LANES]; CHUNKS]; UNITS];
            let piece = Piece { d, n_out, units: [unit, (unit + 1).min(n_out - 1)], col, len };
            sum_strips::<A>(&mut gradient, piece, n_steps, &strip_of);
            sum_rest::<A, R>(&mut gradient, piece, inputs, n_steps);
            for (gradient, unit) in gradient.iter().zip(unit..n_out) {
                rule.apply::<A>(at(unit), &gradient.as_flattened()[..len]);
            }
        }
    }
}

/// Puts the inputs of all steps together, strip by strip.
#[inline(always)]
fn pack<'a>(
    packed: &mut [[Strip; PACKED_STEPS]; CHUNKS / REGISTERS],
    inputs: impl InputRows<'a>,
    n_steps: usize,
    col: usize,
    len: usize,
) {
    for step in 0..n_steps {
        let strips = inputs.row(step)[col..col + len].as_chunks::<N_LANES>().0.as_chunks::<REGISTERS>().0;
        strips.iter().zip(&mut *packed).for_each(|(strip, packed)| packed[step] = *strip);
    }
}

/// Some inputs of some units.
#[derive(Clone, Copy)]
struct Piece<'d> {
    /// `[n_steps, n_out]`
    d: &'d [f32],
    n_out: usize,
    units: [usize; UNITS],
    col: usize,
    len: usize,
}

impl Piece<'_> {
    #[inline(always)]
    fn d(&self, step: usize) -> [f32; UNITS] {
        self.units.map(|unit| self.d[step * self.n_out + unit])
    }
}

/// Sums over steps, in their order, of all whole strips.
#[inline(always)]
fn sum_strips<'a, A: Arithmetic>(
    gradient: &mut [[Lanes; CHUNKS]; UNITS],
    piece: Piece<'_>,
    n_steps: usize,
    strip_of: impl Fn(usize, usize) -> &'a Strip,
) {
    for strip in 0..piece.len / (REGISTERS * N_LANES) {
        let mut sums = [[A::zero(); REGISTERS]; UNITS];
        for step in 0..n_steps {
            let x = strip_of(strip, step);
            let d = piece.d(step).map(A::splat);
            for register in 0..REGISTERS {
                let x = A::load(&x[register]);
                for unit in 0..UNITS {
                    sums[unit][register] = A::mul_add(d[unit], x, sums[unit][register]);
                }
            }
        }
        for (gradient, sums) in gradient.iter_mut().zip(&sums) {
            let gradient = &mut gradient[strip * REGISTERS..(strip + 1) * REGISTERS];
            gradient.iter_mut().zip(sums).for_each(|(gradient, &sum)| A::store(sum, gradient));
        }
    }
}

/// The same of what is left behind the last strip.
#[inline(always)]
fn sum_rest<'a, A: Arithmetic, R: InputRows<'a>>(
    gradient: &mut [[Lanes; CHUNKS]; UNITS],
    piece: Piece<'_>,
    inputs: R,
    n_steps: usize,
) {
    let row = |step: usize| &inputs.row(step)[piece.col..piece.col + piece.len];
    let (n_strips, n_chunks) = (piece.len / (REGISTERS * N_LANES), piece.len / N_LANES);
    for chunk in n_strips * REGISTERS..n_chunks {
        let mut sums = [A::zero(); UNITS];
        for step in 0..n_steps {
            let x = A::load(&row(step).as_chunks::<N_LANES>().0[chunk]);
            let d = piece.d(step);
            for unit in 0..UNITS {
                sums[unit] = A::mul_add(A::splat(d[unit]), x, sums[unit]);
            }
        }
        for (gradient, &sum) in gradient.iter_mut().zip(&sums) {
            A::store(sum, &mut gradient[chunk]);
        }
    }
    let done = n_chunks * N_LANES;
    if done == piece.len {
        return;
    }
    for step in 0..n_steps {
        let (x, d) = (&row(step)[done..], piece.d(step));
        for (gradient, d) in gradient.iter_mut().zip(d) {
            let rest = &mut gradient.as_flattened_mut()[done..];
            rest.iter_mut().zip(x).for_each(|(g, x)| *g = A::mul_add_one(d, *x, *g));
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
