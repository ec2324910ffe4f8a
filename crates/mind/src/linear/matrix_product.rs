//! `C += A B` for matrices of many rows: columns are packed into panels, once for many products, and tiles of six rows and
//! sixteen columns are summed in registers.
//!
//! Written by hand because a run is one thread and allocates nothing in its loop; matrix libraries do one or the other.

use crate::arithmetic::{Arithmetic, Instructions, Kernel, Lanes, N_LANES};

/// Rows of a tile, and registers of its columns: twelve sums, two columns and one row fill all sixteen registers.
const ROWS: usize = 6;
const REGISTERS: usize = 2;
const COLS: usize = REGISTERS * N_LANES;
/// Numbers that are summed before sums are put down: a panel of columns stays in the first cache.
const DEPTH: usize = 256;
/// Of these, so many at a time.
const UNROLLED: usize = 8;

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

/// The right side of products, as they read it: `[block of depth][panel][depth][column]`, zeros where there is no column.
#[derive(Clone, Debug)]
pub(crate) struct PackedColumns {
    numbers: Vec<f32>,
    depth: usize,
    n_cols: usize,
}

impl PackedColumns {
    /// Room for a matrix of `[depth, n_cols]`.
    pub fn new(depth: usize, n_cols: usize) -> Self {
        Self { numbers: vec![0.0; depth * n_cols.next_multiple_of(COLS)], depth, n_cols }
    }

    /// Rows of the matrix.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Takes a matrix of that shape.
    pub fn pack(&mut self, b: Matrix<'_>) {
        self.pack_columns(self.n_cols, b);
    }

    /// Takes a matrix of so many columns, if there is room for them.
    pub fn pack_columns(&mut self, n_cols: usize, b: Matrix<'_>) {
        self.n_cols = n_cols;
        let (depth, n_padded) = (self.depth, n_cols.next_multiple_of(COLS));
        for first in (0..depth).step_by(DEPTH) {
            let len = DEPTH.min(depth - first);
            let block = self.numbers[first * n_padded..][..len * n_padded].as_chunks_mut::<COLS>().0;
            match b.col_stride {
                1 => pack_rows(b, first, len, n_cols, block),
                _ => pack_panels(b, first, len, n_cols, block),
            }
        }
    }
}

/// One block of a matrix that stands row by row: each is read once, from end to end.
fn pack_rows(b: Matrix<'_>, first: usize, len: usize, n_cols: usize, block: &mut [[f32; COLS]]) {
    for depth in 0..len {
        let (whole, rest) = b.numbers[(first + depth) * b.row_stride..][..n_cols].as_chunks::<COLS>();
        let mut places = block[depth..].iter_mut().step_by(len);
        whole.iter().zip(&mut places).for_each(|(numbers, place)| *place = *numbers);
        if let Some(place) = places.next() {
            place[..rest.len()].copy_from_slice(rest);
            place[rest.len()..].fill(0.0);
        }
    }
}

/// One block of a matrix that stands in any other way.
fn pack_panels(b: Matrix<'_>, first: usize, len: usize, n_cols: usize, block: &mut [[f32; COLS]]) {
    for (panel, out) in block.chunks_exact_mut(len).enumerate() {
        let col = panel * COLS;
        if col + COLS <= n_cols && b.row_stride == 1 {
            let cols: [&[f32]; COLS] =
                std::array::from_fn(|idx| &b.numbers[(col + idx) * b.col_stride + first..][..len]);
            for (depth, out) in out.iter_mut().enumerate() {
                *out = std::array::from_fn(|idx| cols[idx][depth]);
            }
        } else {
            for (depth, out) in out.iter_mut().enumerate() {
                let number = |col| if col < n_cols { b.get(first + depth, col) } else { 0.0 };
                *out = std::array::from_fn(|idx| number(col + idx));
            }
        }
    }
}

/// Adds `a` (`[n_rows, depth]`) times `b` (`[depth, n_cols]`) to `c`, `[n_rows, n_cols]`.
pub(crate) fn add_matrix_product(
    instructions: Instructions,
    a: Matrix<'_>,
    b: &PackedColumns,
    c: &mut [f32],
) {
    instructions.run(Product { a, b, c: SomeColumns::all(c, b.n_cols), is_added: true });
}

/// Some columns of a matrix that stands row by row.
pub(crate) struct SomeColumns<'a> {
    pub numbers: &'a mut [f32],
    pub stride: usize,
    pub first: usize,
    pub n: usize,
}

impl<'a> SomeColumns<'a> {
    /// All columns.
    pub fn all(numbers: &'a mut [f32], n: usize) -> Self {
        Self { numbers, stride: n, first: 0, n }
    }

    fn n_rows(&self) -> usize {
        self.numbers.len() / self.stride
    }
}

/// Sets some columns of a matrix, `[n_rows, n]`, to `a` (`[n_rows, depth]`) times `b` (`[depth, n]`).
pub(crate) fn set_columns(instructions: Instructions, a: Matrix<'_>, b: &PackedColumns, c: SomeColumns<'_>) {
    assert_eq!(c.n, b.n_cols, "as many columns as there are");
    instructions.run(Product { a, b, c, is_added: false });
}

struct Product<'a> {
    a: Matrix<'a>,
    b: &'a PackedColumns,
    c: SomeColumns<'a>,
    /// To what is there.
    is_added: bool,
}

impl Kernel for Product<'_> {
    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let Self { a, b: &PackedColumns { ref numbers, depth, n_cols }, mut c, is_added } = self;
        let n_padded = n_cols.next_multiple_of(COLS);
        for first in (0..depth).step_by(DEPTH) {
            let len = DEPTH.min(depth - first);
            let block = &numbers[first * n_padded..][..len * n_padded];
            let is_added = is_added || first > 0;
            match a.col_stride {
                1 => block_of_rows::<A>(a, first, block, &mut c, is_added),
                _ => block_of_columns::<A>(a, first, block, &mut c, is_added),
            }
        }
    }
}

/// Columns of one panel, `[depth][register]`.
type Panel<'a> = &'a [[Lanes; REGISTERS]];

#[inline(always)]
fn panels(block: &[f32], len: usize) -> impl Iterator<Item = (usize, Panel<'_>)> {
    let panels = block.chunks_exact(COLS * len).enumerate();
    panels.map(|(idx, panel)| (idx * COLS, panel.as_chunks::<N_LANES>().0.as_chunks::<REGISTERS>().0))
}

/// One block of depth where `a` stands row by row.
#[inline(always)]
fn block_of_rows<A: Arithmetic>(
    a: Matrix<'_>,
    first: usize,
    block: &[f32],
    c: &mut SomeColumns<'_>,
    is_added: bool,
) {
    let (n_rows, len) = (c.n_rows(), block.len() / c.n.next_multiple_of(COLS));
    for (col, panel) in panels(block, len) {
        for row in (0..n_rows).step_by(ROWS) {
            // Where fewer are left, the last stands for those that are not there.
            let rows = std::array::from_fn(|idx| {
                &a.numbers[(row + idx).min(n_rows - 1) * a.row_stride + first..][..len]
            });
            put_down::<A>(tile_of_rows::<A>(rows, panel), c, (row, col), is_added);
        }
    }
}

/// The same where `a` stands in any other way: some of its rows are put together for all panels.
#[inline(always)]
fn block_of_columns<A: Arithmetic>(
    a: Matrix<'_>,
    first: usize,
    block: &[f32],
    c: &mut SomeColumns<'_>,
    is_added: bool,
) {
    let (n_rows, len) = (c.n_rows(), block.len() / c.n.next_multiple_of(COLS));
    let mut near = [[0.0; ROWS]; DEPTH];
    for row in (0..n_rows).step_by(ROWS) {
        for (depth, near) in near[..len].iter_mut().enumerate() {
            *near = std::array::from_fn(|idx| a.get((row + idx).min(n_rows - 1), first + depth));
        }
        for (col, panel) in panels(block, len) {
            put_down::<A>(tile_of_columns::<A>(&near[..len], panel), c, (row, col), is_added);
        }
    }
}

type Tile<V> = [[V; REGISTERS]; ROWS];

#[inline(always)]
fn tile_of_rows<A: Arithmetic>(rows: [&[f32]; ROWS], panel: Panel<'_>) -> Tile<A::V> {
    let mut sums = [[A::zero(); REGISTERS]; ROWS];
    // By chunks, so that the ends of rows are looked at once for several numbers.
    let (chunks, rest) = panel.as_chunks::<UNROLLED>();
    let row_chunks = rows.map(|row| &row.as_chunks::<UNROLLED>().0[..chunks.len()]);
    for (idx, cols) in chunks.iter().enumerate() {
        let x = row_chunks.map(|chunks| &chunks[idx]);
        for depth in 0..UNROLLED {
            add_column::<A>(&mut sums, std::array::from_fn(|row| x[row][depth]), &cols[depth]);
        }
    }
    let n_done = panel.len() - rest.len();
    for (depth, cols) in rest.iter().enumerate() {
        add_column::<A>(&mut sums, std::array::from_fn(|row| rows[row][n_done + depth]), cols);
    }
    sums
}

#[inline(always)]
fn tile_of_columns<A: Arithmetic>(columns: &[[f32; ROWS]], panel: Panel<'_>) -> Tile<A::V> {
    let mut sums = [[A::zero(); REGISTERS]; ROWS];
    columns.iter().zip(panel).for_each(|(column, cols)| add_column::<A>(&mut sums, *column, cols));
    sums
}

/// One column of `a` times one row of `b`.
#[inline(always)]
fn add_column<A: Arithmetic>(sums: &mut Tile<A::V>, column: [f32; ROWS], cols: &[Lanes; REGISTERS]) {
    let cols: [A::V; REGISTERS] = [A::load(&cols[0]), A::load(&cols[1])];
    for row in 0..ROWS {
        let x = A::splat(column[row]);
        for register in 0..REGISTERS {
            sums[row][register] = A::mul_add(x, cols[register], sums[row][register]);
        }
    }
}

/// Adds a tile to the product, or begins with it; what is outside of it is left out.
#[inline(always)]
fn put_down<A: Arithmetic>(
    sums: Tile<A::V>,
    c: &mut SomeColumns<'_>,
    (row, col): (usize, usize),
    is_added: bool,
) {
    let n_rows = c.n_rows();
    for (idx, sums) in sums.iter().enumerate().take(n_rows - row) {
        let start = (row + idx) * c.stride + c.first;
        let (chunks, rest) = c.numbers[start + col..start + c.n].as_chunks_mut::<N_LANES>();
        let n_whole = chunks.len().min(REGISTERS);
        for (chunk, &sum) in chunks.iter_mut().zip(sums) {
            A::store(if is_added { A::add(A::load(chunk), sum) } else { sum }, chunk);
        }
        if let Some(&sum) = sums.get(n_whole) {
            for (c, sum) in rest.iter_mut().zip(A::stored(sum)) {
                *c = if is_added { *c + sum } else { sum };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shapes below, at and above every block, on all instructions, plain and transposed.
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
                for instructions in Instructions::all() {
                    let mut c = before.clone();
                    let mut packed = PackedColumns::new(depth, n_cols);
                    packed.pack(b);
                    add_matrix_product(instructions, a, &packed, &mut c);
                    // Between two columns that stay as they are.
                    let mut wide = vec![7.0; n_rows * (n_cols + 2)];
                    let columns = SomeColumns { numbers: &mut wide, stride: n_cols + 2, first: 1, n: n_cols };
                    set_columns(instructions, a, &packed, columns);
                    for row in 0..n_rows {
                        let wide = &wide[row * (n_cols + 2)..][..n_cols + 2];
                        assert_eq!((wide[0], wide[n_cols + 1]), (7.0, 7.0));
                        for col in 0..n_cols {
                            let products =
                                (0..depth).map(|i| f64::from(a.get(row, i)) * f64::from(b.get(i, col)));
                            let product = products.sum::<f64>();
                            let expected = f64::from(before[row * n_cols + col]) + product;
                            let found = f64::from(c[row * n_cols + col]);
                            assert!((found - expected).abs() < 1e-4, "{n_rows} x {n_cols} x {depth}");
                            let set = f64::from(wide[col + 1]);
                            assert!((set - product).abs() < 1e-4, "{n_rows} x {n_cols} x {depth}");
                        }
                    }
                }
            }
        }
    }
}
