//! `C += A B` for matrices of many rows: both are packed into panels, and tiles of six rows and sixteen columns are
//! summed in registers.
//!
//! Written by hand because a run is one thread and allocates nothing in its loop; matrix libraries do one or the other.

use crate::arithmetic::{Arithmetic, Instructions, Kernel, Lanes, N_LANES};

/// Rows of a tile, and registers of its columns: twelve sums, two columns and one row fill all sixteen registers.
const ROWS: usize = 6;
const REGISTERS: usize = 2;
const COLS: usize = REGISTERS * N_LANES;
/// Numbers that are summed before sums are put down; rows and columns that are packed at once. The packed rows stay in
/// the second cache, one panel of columns in the first.
const DEPTH: usize = 256;
const PACKED_ROWS: usize = 16 * ROWS;
const PACKED_COLS: usize = 256;

/// A matrix that stands in memory in any regular way.
#[derive(Clone, Copy)]
pub(crate) struct Matrix<'a> {
    pub numbers: &'a [f32],
    /// Numbers from one row to the next, and from one column to the next.
    pub row_stride: usize,
    pub col_stride: usize,
}

impl<'a> Matrix<'a> {
    /// Rows one after another.
    pub fn rows(numbers: &'a [f32], stride: usize) -> Self {
        Self { numbers, row_stride: stride, col_stride: 1 }
    }

    /// Its transpose.
    pub fn transposed(self) -> Self {
        Self { row_stride: self.col_stride, col_stride: self.row_stride, ..self }
    }

    #[inline(always)]
    fn get(&self, row: usize, col: usize) -> f32 {
        self.numbers[row * self.row_stride + col * self.col_stride]
    }
}

/// What products work in; made once.
#[derive(Clone, Debug)]
pub(crate) struct ProductRoom {
    rows: Vec<f32>,
    cols: Vec<f32>,
}

impl ProductRoom {
    pub fn new() -> Self {
        Self { rows: vec![0.0; PACKED_ROWS * DEPTH], cols: vec![0.0; PACKED_COLS * DEPTH] }
    }
}

/// Adds `a` (`[n_rows, depth]`) times `b` (`[depth, n_cols]`) to `c`, `[n_rows, n_cols]`.
pub(crate) fn add_matrix_product(
    instructions: Instructions,
    depth: usize,
    a: Matrix<'_>,
    b: Matrix<'_>,
    n_cols: usize,
    c: &mut [f32],
    room: &mut ProductRoom,
) {
    instructions.run(Product { depth, a, b, n_cols, c, room });
}

struct Product<'a> {
    depth: usize,
    a: Matrix<'a>,
    b: Matrix<'a>,
    n_cols: usize,
    c: &'a mut [f32],
    room: &'a mut ProductRoom,
}

impl Kernel for Product<'_> {
    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let Self { depth, a, b, n_cols, c, room } = self;
        let n_rows = c.len() / n_cols;
        for first in (0..depth).step_by(DEPTH) {
            let len = DEPTH.min(depth - first);
            for col in (0..n_cols).step_by(PACKED_COLS) {
                let n_packed_cols = PACKED_COLS.min(n_cols - col);
                let cols = &mut room.cols[..n_packed_cols.next_multiple_of(COLS) * len];
                pack::<COLS>(b.transposed(), first, len, col, n_packed_cols, cols);
                for row in (0..n_rows).step_by(PACKED_ROWS) {
                    let n_packed_rows = PACKED_ROWS.min(n_rows - row);
                    let rows = &mut room.rows[..n_packed_rows.next_multiple_of(ROWS) * len];
                    pack::<ROWS>(a, first, len, row, n_packed_rows, rows);
                    for (idx, cols) in cols.chunks_exact(COLS * len).enumerate() {
                        let cols = cols.as_chunks::<N_LANES>().0.as_chunks::<REGISTERS>().0;
                        let at_col = col + idx * COLS;
                        for (idx, rows) in rows.chunks_exact(ROWS * len).enumerate() {
                            let sums = tile::<A>(rows.as_chunks::<ROWS>().0, cols);
                            let at_row = row + idx * ROWS;
                            put_down::<A>(sums, c, n_cols, at_row, n_rows, at_col);
                        }
                    }
                }
            }
        }
    }
}

#[inline(always)]
fn tile<A: Arithmetic>(rows: &[[f32; ROWS]], cols: &[[Lanes; REGISTERS]]) -> [[A::V; REGISTERS]; ROWS] {
    let mut sums = [[A::zero(); REGISTERS]; ROWS];
    for (rows, cols) in rows.iter().zip(cols) {
        let cols: [A::V; REGISTERS] = [A::load(&cols[0]), A::load(&cols[1])];
        for row in 0..ROWS {
            let x = A::splat(rows[row]);
            for register in 0..REGISTERS {
                sums[row][register] = A::mul_add(x, cols[register], sums[row][register]);
            }
        }
    }
    sums
}

/// Adds a tile to the product; what is outside of it is left out.
#[inline(always)]
fn put_down<A: Arithmetic>(
    sums: [[A::V; REGISTERS]; ROWS],
    c: &mut [f32],
    n_cols: usize,
    row: usize,
    n_rows: usize,
    col: usize,
) {
    for (idx, sums) in sums.iter().enumerate().take(n_rows - row) {
        let c = &mut c[(row + idx) * n_cols + col..(row + idx + 1) * n_cols];
        let (chunks, rest) = c.as_chunks_mut::<N_LANES>();
        let n_whole = chunks.len().min(REGISTERS);
        for (chunk, &sum) in chunks.iter_mut().zip(sums) {
            A::store(A::add(A::load(chunk), sum), chunk);
        }
        if let Some(&sum) = sums.get(n_whole) {
            rest.iter_mut().zip(A::stored(sum)).for_each(|(c, sum)| *c += sum);
        }
    }
}

/// Panels of `N` rows of a matrix, from column `first` on: `[panel][depth][row]`, zeros where there is no row. Columns are
/// packed as rows of the transpose.
#[inline(always)]
fn pack<const N: usize>(a: Matrix<'_>, first: usize, len: usize, row: usize, n_rows: usize, out: &mut [f32]) {
    for (panel, out) in out.chunks_exact_mut(N * len).enumerate() {
        let out = out.as_chunks_mut::<N>().0;
        let n_there = N.min(n_rows - panel * N);
        let row = row + panel * N;
        if n_there == N && a.row_stride == 1 {
            for (depth, out) in out.iter_mut().enumerate() {
                let start = row + (first + depth) * a.col_stride;
                out.copy_from_slice(&a.numbers[start..start + N]);
            }
        } else if n_there == N && a.col_stride == 1 {
            let rows: [&[f32]; N] =
                std::array::from_fn(|idx| &a.numbers[(row + idx) * a.row_stride + first..][..len]);
            for (depth, out) in out.iter_mut().enumerate() {
                *out = std::array::from_fn(|idx| rows[idx][depth]);
            }
        } else {
            for (depth, out) in out.iter_mut().enumerate() {
                *out = std::array::from_fn(|idx| match idx < n_there {
                    true => a.get(row + idx, first + depth),
                    false => 0.0,
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shapes below, at and above every block, on both instructions, plain and transposed.
    #[test]
    fn products_are_those_of_three_loops() {
        let mut state = 1_u64;
        let mut noise = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f32 / (1_u64 << 23) as f32 - 1.0
        };
        let shapes =
            [(1, 1, 1), (5, 15, 3), (6, 16, 8), (7, 17, 257), (100, 33, 40), (97, 260, 300), (13, 520, 9)];
        for (n_rows, n_cols, depth) in shapes {
            let a: Vec<f32> = (0..n_rows * depth).map(|_| noise()).collect();
            let b: Vec<f32> = (0..depth * n_cols).map(|_| noise()).collect();
            let before: Vec<f32> = (0..n_rows * n_cols).map(|_| noise()).collect();
            for is_transposed in [false, true] {
                // The same numbers, read as matrices that stand the other way round.
                let (a, b) = match is_transposed {
                    false => (Matrix::rows(&a, depth), Matrix::rows(&b, n_cols)),
                    true => (Matrix::rows(&a, n_rows).transposed(), Matrix::rows(&b, depth).transposed()),
                };
                for instructions in [Instructions::best(), Instructions::PORTABLE] {
                    let mut c = before.clone();
                    let mut room = ProductRoom::new();
                    add_matrix_product(instructions, depth, a, b, n_cols, &mut c, &mut room);
                    for row in 0..n_rows {
                        for col in 0..n_cols {
                            let products =
                                (0..depth).map(|i| f64::from(a.get(row, i)) * f64::from(b.get(i, col)));
                            let expected = f64::from(before[row * n_cols + col]) + products.sum::<f64>();
                            let found = f64::from(c[row * n_cols + col]);
                            assert!((found - expected).abs() < 1e-4, "{n_rows} x {n_cols} x {depth}");
                        }
                    }
                }
            }
        }
    }
}
