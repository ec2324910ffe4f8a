//! `d^T x`, the gradient of a layer's weights over some steps, given to a rule piece by piece and never stored whole.

use crate::arithmetic::{Arithmetic, Instructions, Kernel, Lanes, N_LANES};
use crate::linear::InputRows;

/// Units and steps that are worked on side by side.
const UNITS: usize = 2;
const STEPS: usize = 4;
/// Inputs of one piece: its gradient stays in the first cache.
const INPUTS: usize = 512;
const CHUNKS: usize = INPUTS / N_LANES;

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
    instructions.run(ApplyWhole { gradient, rule });
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
        for (unit, row) in gradient.chunks_exact(gradient.len() / n_out).enumerate() {
            for (idx, piece) in row.chunks(INPUTS).enumerate() {
                rule.apply::<A>(start + unit * stride + first_col + idx * INPUTS, piece);
            }
        }
    }
}

struct ApplyWhole<'o, U> {
    gradient: &'o [f32],
    rule: &'o mut U,
}

impl<U: UpdateRule> Kernel for ApplyWhole<'_, U> {
    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        for (idx, gradient) in self.gradient.chunks(INPUTS).enumerate() {
            self.rule.apply::<A>(idx * INPUTS, gradient);
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
    fn run<A: Arithmetic>(self) {
        let Self { target: Target { start, stride, first_col, n_out }, d, inputs, rule } = self;
        let n_steps = d.len() / n_out;
        let n_cols = if n_steps == 0 { 0 } else { inputs.row(0).len() };
        // Inputs outside, so that those of all steps stay in a cache for all units.
        for col in (0..n_cols).step_by(INPUTS) {
            let len = INPUTS.min(n_cols - col);
            for unit in (0..n_out).step_by(UNITS) {
                let at = |unit: usize| start + unit * stride + first_col + col;
                // They come from far away while the gradient is summed.
                (unit..n_out.min(unit + UNITS)).for_each(|unit| rule.expect::<A>(at(unit), len));
                let mut gradient: [[Lanes; CHUNKS]; UNITS] = [[[0.0; N_LANES]; CHUNKS]; UNITS];
                for step in (0..n_steps).step_by(STEPS) {
                    // Steps and units that are not there count 0.
                    let d: [[f32; STEPS]; UNITS] = std::array::from_fn(|u| {
                        std::array::from_fn(|s| {
                            let is_there = step + s < n_steps && unit + u < n_out;
                            if is_there { d[(step + s) * n_out + unit + u] } else { 0.0 }
                        })
                    });
                    let xs: [&[f32]; STEPS] =
                        std::array::from_fn(|s| &inputs.row((step + s).min(n_steps - 1))[col..col + len]);
                    add_outer_products::<A>(&mut gradient, d, xs);
                }
                for (gradient, unit) in gradient.iter().zip(unit..n_out) {
                    rule.apply::<A>(at(unit), &gradient.as_flattened()[..len]);
                }
            }
        }
    }
}

#[inline(always)]
fn add_outer_products<A: Arithmetic>(
    gradient: &mut [[Lanes; CHUNKS]; UNITS],
    d: [[f32; STEPS]; UNITS],
    xs: [&[f32]; STEPS],
) {
    let n_chunks = xs[0].len() / N_LANES;
    let [x0, x1, x2, x3] = xs.map(|x| &x.as_chunks::<N_LANES>().0[..n_chunks]);
    let [g0, g1] = gradient;
    let d_lanes = d.map(|d| d.map(A::splat));
    for (i, (g0, g1)) in g0[..n_chunks].iter_mut().zip(&mut g1[..n_chunks]).enumerate() {
        let mut sums = [A::load(g0), A::load(g1)];
        for (step, x) in [&x0[i], &x1[i], &x2[i], &x3[i]].into_iter().enumerate() {
            let x = A::load(x);
            for unit in 0..UNITS {
                sums[unit] = A::mul_add(d_lanes[unit][step], x, sums[unit]);
            }
        }
        A::store(sums[0], g0);
        A::store(sums[1], g1);
    }
    let done = n_chunks * N_LANES;
    for (gradient, d) in [g0, g1].into_iter().zip(&d) {
        let rest = &mut gradient.as_flattened_mut()[done..];
        for (d, x) in d.iter().zip(xs) {
            rest.iter_mut().zip(&x[done..]).for_each(|(g, x)| *g = A::mul_add_one(*d, *x, *g));
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
