//! `dx = d W`: the gradient of a layer's inputs.

use crate::arithmetic::{Arithmetic, Instructions, Kernel, N_LANES};
use crate::linear::Weights;

/// Inputs and steps that are summed side by side: twelve sums.
const CHUNKS: usize = 4;
const STEPS: usize = 3;
const WIDTH: usize = CHUNKS * N_LANES;
/// The weights of so many inputs and units are put together, if rows are so long that each begins in another page.
const PANEL: usize = 2 * WIDTH;
const PANEL_UNITS: usize = 128;
const LONG: usize = 4096;

/// Sets `dx`, `[n_steps, n_cols]`, from `d`, `[n_steps, n_out]`.
pub(crate) fn set_input_gradient(
    instructions: Instructions,
    weights: Weights<'_>,
    d: &[f32],
    dx: &mut [f32],
) {
    instructions.run(InputGradient { weights, d, dx });
}

struct InputGradient<'a> {
    weights: Weights<'a>,
    d: &'a [f32],
    dx: &'a mut [f32],
}

impl Kernel for InputGradient<'_> {
    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let Self { weights, d, dx } = self;
        let (n_out, n_cols) = (weights.n_out(), weights.n_cols);
        let n_strips = n_cols / WIDTH * WIDTH;
        let n_panels = if n_cols > LONG && n_out <= PANEL_UNITS { n_cols / PANEL * PANEL } else { 0 };
        let mut panel = [[0.0; PANEL]; PANEL_UNITS];
        // Inputs outside: their weights come from far away once and stay near for all steps.
        for start in (0..n_panels).step_by(PANEL) {
            for (unit, panel) in panel[..n_out].iter_mut().enumerate() {
                panel.copy_from_slice(&weights.row(unit)[start..start + PANEL]);
            }
            let near = Weights::whole(panel[..n_out].as_flattened(), PANEL);
            for col in (0..PANEL).step_by(WIDTH) {
                strip::<A>(near, col, d, dx, n_cols, start + col);
            }
        }
        for start in (n_panels..n_strips).step_by(WIDTH) {
            strip::<A>(weights, start, d, dx, n_cols, start);
        }
        for (d, dx) in d.chunks_exact(n_out).zip(dx.chunks_exact_mut(n_cols)) {
            let rest = &mut dx[n_strips..];
            rest.fill(0.0);
            for (unit, &d) in d.iter().enumerate() {
                let w = &weights.row(unit)[n_strips..];
                rest.iter_mut().zip(w).for_each(|(sum, w)| *sum = A::mul_add_one(d, *w, *sum));
            }
        }
    }
}

/// The gradient of some inputs at all steps: weights from column `col` on, put down from column `to` on.
#[inline(always)]
fn strip<A: Arithmetic>(
    weights: Weights<'_>,
    col: usize,
    d: &[f32],
    dx: &mut [f32],
    n_cols: usize,
    to: usize,
) {
    let n_out = weights.n_out();
    for (d, dx) in d.chunks(STEPS * n_out).zip(dx.chunks_mut(STEPS * n_cols)) {
        let n_steps = d.len() / n_out;
        let mut sums = [[A::zero(); CHUNKS]; STEPS];
        for unit in 0..n_out {
            let w = weights.row(unit)[col..col + WIDTH].as_chunks::<N_LANES>().0;
            let w: [A::V; CHUNKS] = std::array::from_fn(|chunk| A::load(&w[chunk]));
            for (step, sums) in sums.iter_mut().enumerate() {
                // Where fewer are left, the last stands for those that are not there.
                let d = A::splat(d[step.min(n_steps - 1) * n_out + unit]);
                for (sum, &w) in sums.iter_mut().zip(&w) {
                    *sum = A::mul_add(d, w, *sum);
                }
            }
        }
        for (dx, sums) in dx.chunks_exact_mut(n_cols).zip(&sums) {
            let (dx, _) = dx[to..to + WIDTH].as_chunks_mut::<N_LANES>();
            dx.iter_mut().zip(sums).for_each(|(dx, &sum)| A::store(sum, dx));
        }
    }
}
