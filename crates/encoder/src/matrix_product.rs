//! Products with a constant matrix that is packed once; the only user of the GEMM library.

use rten_gemm::{BiasVector, GemmExecutor, GemmInputA, GemmInputB, GemmOptions, PackedBMatrix};
use rten_tensor::prelude::*;
use rten_tensor::{Matrix, NdTensorView};

pub(crate) struct PackedMatrix {
    n_in: usize,
    n_out: usize,
    packed: PackedBMatrix<f32>,
}

impl PackedMatrix {
    /// From `[n_in, n_out]`.
    pub fn from_columns(n_in: usize, n_out: usize, values: &[f32]) -> Self {
        Self::pack(NdTensorView::from_data([n_in, n_out], values))
    }

    /// From `[n_out, n_in]`.
    pub fn from_rows(n_out: usize, n_in: usize, values: &[f32]) -> Self {
        Self::pack(NdTensorView::from_data([n_out, n_in], values).transposed())
    }

    fn pack(matrix: Matrix<f32>) -> Self {
        let [n_in, n_out] = matrix.shape();
        Self { n_in, n_out, packed: GemmExecutor::default().prepack_b(matrix) }
    }

    /// `out = rows * matrix`, where `rows` is `[n, n_in]` and `out` is `[n, n_out]`. The order of summation does not
    /// depend on `n`.
    pub fn multiply(&self, rows: &[f32], out: &mut [f32]) {
        self.multiply_with(rows, out, GemmOptions::default());
    }

    /// `out = rows * matrix + bias`, with `bias` of `[n_out]`.
    pub fn multiply_add(&self, rows: &[f32], bias: &[f32], out: &mut [f32]) {
        let bias = Some(BiasVector::Row(bias));
        self.multiply_with(rows, out, GemmOptions { bias, ..GemmOptions::default() });
    }

    /// `out += rows * matrix + bias`, with `bias` of `[n_out]`.
    pub fn multiply_onto(&self, rows: &[f32], bias: &[f32], out: &mut [f32]) {
        let bias = Some(BiasVector::Row(bias));
        self.multiply_with(rows, out, GemmOptions { beta: 1.0, bias, ..GemmOptions::default() });
    }

    fn multiply_with(&self, rows: &[f32], out: &mut [f32], options: GemmOptions<f32, f32, f32>) {
        let n = rows.len() / self.n_in;
        assert_eq!(out.len(), n * self.n_out, "{n} rows times a {}x{} matrix", self.n_in, self.n_out);
        let rows = NdTensorView::from_data([n, self.n_in], rows);
        // An executor is only a choice of kernel; creating one is free, and it cannot be shared between threads.
        let done = GemmExecutor::default().gemm(
            out,
            GemmInputA::Unpacked(rows),
            GemmInputB::Packed(&self.packed),
            options,
        );
        done.expect("shapes fit and the kernel is the one that packed the matrix");
    }
}
