//! Rows of a batch without repetitions: what several steps have in common is multiplied once.

use crate::linear::InputRows;

/// Which rows of a batch are equal. Equal rows are found by their place in memory: a screen that is shown again has the
/// same features at the same place.
#[derive(Clone, Debug)]
pub(crate) struct DistinctRows {
    /// The first step of each distinct row and where it is in memory, `[n_distinct]`, padded to the number of steps.
    steps: Vec<usize>,
    addresses: Vec<usize>,
    n_distinct: usize,
    /// The distinct row of each step.
    of_step: Vec<usize>,
}

impl DistinctRows {
    /// For batches of `n_steps`.
    pub fn new(n_steps: usize) -> Self {
        let zeros = || vec![0; n_steps];
        Self { steps: zeros(), addresses: zeros(), n_distinct: 0, of_step: zeros() }
    }

    /// Finds the distinct rows of a batch, all of one length.
    pub fn find<'a>(&mut self, inputs: impl InputRows<'a>) {
        let Self { steps, addresses, n_distinct, of_step } = self;
        *n_distinct = 0;
        for (step, of_step) in of_step.iter_mut().enumerate() {
            let address = inputs.row(step).as_ptr().addr();
            let found = addresses[..*n_distinct].iter().position(|&other| other == address);
            *of_step = found.unwrap_or_else(|| {
                (steps[*n_distinct], addresses[*n_distinct]) = (step, address);
                *n_distinct += 1;
                *n_distinct - 1
            });
        }
    }

    /// The number of distinct rows.
    pub fn len(&self) -> usize {
        self.n_distinct
    }

    /// The distinct rows of a batch.
    pub fn select<'a, R: InputRows<'a>>(&self, inputs: R) -> Selected<'_, R> {
        Selected { inputs, steps: &self.steps[..self.n_distinct] }
    }

    /// Copies results of distinct rows, which come first in `out`, to the steps of the batch: `out` is `[n_steps, n]`.
    pub fn spread(&self, out: &mut [f32], n: usize) {
        // Backwards: a step never comes before its distinct row.
        for (step, &row) in self.of_step.iter().enumerate().rev() {
            out.copy_within(row * n..(row + 1) * n, step * n);
        }
    }
}

/// Some rows of a batch.
#[derive(Clone, Copy)]
pub(crate) struct Selected<'s, R> {
    inputs: R,
    steps: &'s [usize],
}

impl<'a, R: InputRows<'a>> InputRows<'a> for Selected<'_, R> {
    #[inline(always)]
    fn row(self, step: usize) -> &'a [f32] {
        self.inputs.row(self.steps[step])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of three, some of them at the same place.
    #[derive(Clone, Copy)]
    struct Shown<'a>(&'a [[f32; 3]], &'a [usize]);

    impl<'a> InputRows<'a> for Shown<'a> {
        fn row(self, step: usize) -> &'a [f32] {
            &self.0[self.1[step]]
        }
    }

    #[track_caller]
    fn check(shown: &[usize], n_distinct: usize) {
        let screens: Vec<[f32; 3]> = (0..5).map(|idx| [idx as f32; 3]).collect();
        let rows = Shown(&screens, shown);
        let mut distinct = DistinctRows::new(shown.len());
        // What was found before is forgotten.
        distinct.find(Shown(&screens, &vec![4; shown.len()]));
        distinct.find(rows);
        assert_eq!(distinct.len(), n_distinct);
        let mut out = vec![-1.0; 2 * shown.len()];
        for (row, out) in out.chunks_exact_mut(2).take(n_distinct).enumerate() {
            let x = distinct.select(rows).row(row)[0];
            out.copy_from_slice(&[x, 10.0 * x]);
        }
        distinct.spread(&mut out, 2);
        let wanted: Vec<f32> =
            shown.iter().flat_map(|&screen| [screen as f32, 10.0 * screen as f32]).collect();
        assert_eq!(out, wanted);
    }

    #[test]
    fn every_step_has_the_result_of_its_row() {
        check(&[], 0);
        check(&[3], 1);
        check(&[4, 4, 4, 4], 1);
        check(&[0, 1, 2, 3, 4], 5);
        check(&[2, 0, 2, 1, 0, 2, 4, 1], 4);
    }
}
