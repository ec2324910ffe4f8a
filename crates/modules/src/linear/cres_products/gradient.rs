//! The gradient of weights that read CReS.

use super::{Aligned, PARTS, Pass, ROWS, copy_rows, pass_over};
use crate::arithmetic::{Arithmetic, Block, Instructions, Kernel, N_BLOCK, SimdVector};
use crate::linear::weight_update::UpdateRule;
use std::ops::Range;

/// Passes the gradient of the weights, which begin at parameter `start`, to the rule. `x` is `[n_rows, n_channels]`,
/// `d` is `[n_rows, n_units]`.
pub(crate) fn give_cres_gradient(
    instructions: Instructions,
    x: &[f32],
    n_channels: usize,
    d: &[f32],
    start: usize,
    rule: &mut impl UpdateRule,
) {
    let n_units = d.len() / (x.len() / n_channels).max(1);
    instructions.run(Gradient { x, n_channels, d, n_units, start, rule });
}

struct Gradient<'a, U> {
    x: &'a [f32],
    n_channels: usize,
    d: &'a [f32],
    n_units: usize,
    start: usize,
    rule: &'a mut U,
}

impl<U: UpdateRule> Kernel for Gradient<'_, U> {
    #[inline(always)]
    fn run<A: Arithmetic>(mut self) {
        pass_over::<A>(self.n_units, &mut self);
    }
}

impl<A: Arithmetic, U: UpdateRule> Pass<A> for Gradient<'_, U> {
    #[inline(always)]
    fn run<const N: usize>(&mut self, units: Range<usize>) {
        let Self { x, n_channels, d, n_units, start, ref mut rule } = *self;
        let n_weights = PARTS * n_units;
        let n_chunks = d.len().div_ceil(ROWS * n_units);
        let at = |channel: usize| start + channel * n_weights;
        let copied_rows = &mut Aligned([[[0.0; N_BLOCK]; N]; ROWS]);
        for first in (0..n_channels).step_by(N_BLOCK) {
            let n = N_BLOCK.min(n_channels - first);
            let Aligned(sums) = &mut Aligned([[[[0.0; N_BLOCK]; N]; PARTS]; N_BLOCK]);
            let chunks = x.chunks(ROWS * n_channels).zip(d.chunks(ROWS * n_units));
            for (chunk, (x, d)) in chunks.enumerate() {
                let d = match n_units == N * N_BLOCK {
                    true => d.as_chunks().0.as_chunks().0,
                    false => copy_rows(d, n_units, units.clone(), copied_rows),
                };
                let rows = SortedRows::new::<A>(x.chunks_exact(n_channels).map(|x| &x[first..first + n]));
                for (channel, sums) in sums[..n].iter_mut().enumerate() {
                    // The last channel expects itself.
                    let next = at((first + channel + 1).min(n_channels - 1));
                    let next = next..next + n_weights;
                    // As many accumulators as there are registers for; the bits do not depend on it.
                    match A::HAS_32_REGISTERS {
                        true => rows.add::<A, N, N>(channel, d, sums, *rule, next),
                        false => rows.add::<A, N, 2>(channel, d, sums, *rule, next),
                    }
                    if chunk + 1 < n_chunks {
                        continue;
                    }
                    let (at, n) = (at(first + channel) + units.start, units.len());
                    let sums = sums.as_flattened_mut().as_flattened_mut();
                    if n < n_units {
                        for (part, sums) in sums.chunks_exact(N * N_BLOCK).enumerate() {
                            rule.apply::<A>(at + part * n_units, &sums[..n]);
                        }
                        continue;
                    }
                    // One part after another, as the weights.
                    for part in 1..PARTS {
                        let first = part * N * N_BLOCK;
                        sums.copy_within(first..first + n, part * n);
                    }
                    rule.apply::<A>(at, &sums[..PARTS * n]);
                }
            }
        }
    }
}

/// Up to 32 rows of up to 16 channels, sorted by the sign of their pre-activations.
struct SortedRows {
    /// Absolute values, `[row][channel]`.
    magnitudes: [Block; ROWS],
    /// Per channel one bit for each row whose pre-activation is above 0, and for each other row.
    sides: [[u32; N_BLOCK]; 2],
}

impl SortedRows {
    #[inline(always)]
    fn new<'x, A: Arithmetic>(rows: impl ExactSizeIterator<Item = &'x [f32]>) -> Self {
        let (mut magnitudes, mut below) = ([[0.0; N_BLOCK]; ROWS], [0; N_BLOCK]);
        let all = u32::MAX >> (ROWS - rows.len());
        for (row, (x, magnitudes)) in rows.zip(&mut magnitudes).enumerate() {
            match x.first_chunk() {
                Some(x) => *magnitudes = *x,
                None => magnitudes[..x.len()].copy_from_slice(x),
            }
            let x = A::Blocks::load(magnitudes);
            A::Blocks::store(A::Blocks::max(A::Blocks::sub(A::Blocks::zero(), x), x), magnitudes);
            let is_below = A::Blocks::below_zero(x);
            for (channel, below) in below.iter_mut().enumerate() {
                *below |= (is_below >> channel & 1) << row;
            }
        }
        Self { magnitudes, sides: [below.map(|below| all & !below), below] }
    }

    /// Adds `d` times the outputs of one channel, `AT_ONCE` blocks of units at a time. The rule expects the `next`
    /// parameters, a few per row: all at once they would hold up the loads of `d`.
    #[inline(always)]
    fn add<A: Arithmetic, const N: usize, const AT_ONCE: usize>(
        &self,
        channel: usize,
        d: &[[Block; N]],
        sums: &mut [[Block; N]; PARTS],
        rule: &impl UpdateRule,
        next: Range<usize>,
    ) {
        let n_shares = d.len() * (N / AT_ONCE);
        let n_expected = next.len().div_ceil(n_shares).next_multiple_of(N_BLOCK);
        let mut expected = next.start;
        for (side, share) in (0..2).flat_map(|side| (0..N).step_by(AT_ONCE).map(move |share| (side, share))) {
            let (mut numbers, mut squares) = ([A::Blocks::zero(); AT_ONCE], [A::Blocks::zero(); AT_ONCE]);
            for unit in 0..AT_ONCE {
                numbers[unit] = A::Blocks::load(&sums[side][share + unit]);
                squares[unit] = A::Blocks::load(&sums[side + 2][share + unit]);
            }
            let mut rows = self.sides[side][channel];
            while rows != 0 {
                let row = rows.trailing_zeros() as usize;
                rows &= rows - 1;
                if expected < next.end {
                    rule.expect::<A>(expected, n_expected.min(next.end - expected));
                    expected += n_expected;
                }
                let number = A::Blocks::splat(self.magnitudes[row % ROWS][channel]);
                let square = A::Blocks::mul(number, number);
                for unit in 0..AT_ONCE {
                    let d = A::Blocks::load(&d[row][share + unit]);
                    numbers[unit] = A::Blocks::mul_add(number, d, numbers[unit]);
                    squares[unit] = A::Blocks::mul_add(square, d, squares[unit]);
                }
            }
            for unit in 0..AT_ONCE {
                A::Blocks::store(numbers[unit], &mut sums[side][share + unit]);
                A::Blocks::store(squares[unit], &mut sums[side + 2][share + unit]);
            }
        }
    }
}
