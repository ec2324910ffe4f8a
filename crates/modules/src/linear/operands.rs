//! Operands of products: weights, and a batch of inputs.

/// Some columns of a weight matrix, `[n_out, n_in]`.
#[derive(Clone, Copy)]
pub(crate) struct Weights<'a> {
    pub numbers: &'a [f32],
    /// Numbers from one row to the next.
    pub stride: usize,
    pub first_col: usize,
    pub n_cols: usize,
}

impl<'a> Weights<'a> {
    /// All of a matrix.
    pub fn whole(numbers: &'a [f32], n_in: usize) -> Self {
        Self { numbers, stride: n_in, first_col: 0, n_cols: n_in }
    }

    /// Some of its columns.
    pub fn columns(self, first_col: usize, n_cols: usize) -> Self {
        debug_assert!(first_col + n_cols <= self.n_cols);
        Self { first_col: self.first_col + first_col, n_cols, ..self }
    }

    pub fn n_out(&self) -> usize {
        self.numbers.len() / self.stride
    }

    #[inline(always)]
    pub fn row(&self, row: usize) -> &'a [f32] {
        &self.numbers[row * self.stride + self.first_col..][..self.n_cols]
    }
}

/// A batch of inputs, each a row somewhere in memory.
pub(crate) trait InputRows<'a>: Copy {
    /// The input of a step.
    fn row(self, step: usize) -> &'a [f32];
}

/// Contiguous rows.
#[derive(Clone, Copy)]
pub(crate) struct Stacked<'a> {
    pub numbers: &'a [f32],
    pub stride: usize,
    pub first_col: usize,
    pub n_cols: usize,
}

impl<'a> Stacked<'a> {
    /// All columns.
    pub fn whole(numbers: &'a [f32], n_cols: usize) -> Self {
        Self { numbers, stride: n_cols, first_col: 0, n_cols }
    }
}

impl<'a> InputRows<'a> for Stacked<'a> {
    #[inline(always)]
    fn row(self, step: usize) -> &'a [f32] {
        &self.numbers[step * self.stride + self.first_col..][..self.n_cols]
    }
}
