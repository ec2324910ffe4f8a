//! `C += A B` for matrices of many rows: columns are packed into panels of sixteen, once for many products, and tiles
//! of six rows and one panel, or with AVX-512 of eight rows and two panels, are accumulated in registers.
//!
//! Written by hand because a run is one thread and allocates nothing in its loop; matrix libraries do one or the other.

use crate::arithmetic::{Arithmetic, Block, Instructions, Kernel, N_BLOCK, PlainLoop, SimdVector};

/// Columns of a panel.
const COLS: usize = N_BLOCK;
/// Products per partial sum, after which it is stored: a panel of this depth stays in the first-level cache.
const DEPTH: usize = 256;
/// Products per bounds check.
const UNROLLED: usize = 8;

/// A matrix with any row and column stride.
#[derive(Clone, Copy)]
pub(crate) struct Matrix<'a> {
    pub numbers: &'a [f32],
    /// SimdVector from one row to the next, and from one column to the next.
    pub row_stride: usize,
    pub col_stride: usize,
}

impl<'a> Matrix<'a> {
    /// Rows one after another.
    pub fn rows(numbers: &'a [f32], stride: usize) -> Self {
        Self { numbers, row_stride: stride, col_stride: 1 }
    }

    pub fn transposed(self) -> Self {
        Self { row_stride: self.col_stride, col_stride: self.row_stride, ..self }
    }

    #[inline(always)]
    fn get(&self, row: usize, col: usize) -> f32 {
        self.numbers[row * self.row_stride + col * self.col_stride]
    }
}

/// The right side of products, as they read it: `[block of depth][panel][depth][column]`, zeros where there is no
/// column.
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
    pub fn pack(&mut self, instructions: Instructions, b: Matrix<'_>) {
        self.pack_columns(instructions, self.n_cols, b);
    }

    /// Packs a matrix of `n_cols` columns, at most as many as there are buffers for.
    pub fn pack_columns(&mut self, instructions: Instructions, n_cols: usize, b: Matrix<'_>) {
        self.n_cols = n_cols;
        instructions.vectorize(Packing { packed: self, b });
    }
}

struct Packing<'a> {
    packed: &'a mut PackedColumns,
    b: Matrix<'a>,
}

impl PlainLoop for Packing<'_> {
    #[inline(always)]
    fn run(self) {
        let Self { packed: &mut PackedColumns { ref mut numbers, depth, n_cols }, b } = self;
        let n_padded = n_cols.next_multiple_of(COLS);
        for first in (0..depth).step_by(DEPTH) {
            let len = DEPTH.min(depth - first);
            let block = numbers[first * n_padded..][..len * n_padded].as_chunks_mut::<COLS>().0;
            match b.col_stride {
                1 => pack_rows(b, first, len, n_cols, block),
                _ => pack_panels(b, first, len, n_cols, block),
            }
        }
    }
}

/// One block of a row-major matrix: each row is read once, from end to end.
#[inline(always)]
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

/// One block of a matrix of any other layout.
#[inline(always)]
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

/// Some columns of a row-major matrix.
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
        // As many accumulators as there are registers for; the bits do not depend on it.
        match A::HAS_32_REGISTERS {
            true => self.tiles::<A::Blocks, 8, 2>(),
            false => self.tiles::<A::Blocks, 6, 1>(),
        }
    }
}

impl Product<'_> {
    /// Tiles of `ROWS` rows and at most `PANELS` panels.
    #[inline(always)]
    fn tiles<B: Blocks, const ROWS: usize, const PANELS: usize>(self) {
        let Self { a, b: &PackedColumns { ref numbers, depth, n_cols }, mut c, is_added } = self;
        let n_padded = n_cols.next_multiple_of(COLS);
        for first in (0..depth).step_by(DEPTH) {
            let len = DEPTH.min(depth - first);
            let block = numbers[first * n_padded..][..len * n_padded].as_chunks::<COLS>().0;
            let piece = Piece { a, first, len, block, is_added: is_added || first > 0 };
            match a.col_stride {
                1 => piece.of_rows::<B, ROWS, PANELS>(&mut c),
                _ => piece.of_columns::<B, ROWS, PANELS>(&mut c),
            }
        }
    }
}

/// Arithmetic on sixteen numbers.
trait Blocks: SimdVector<Memory = Block> {}

impl<B: SimdVector<Memory = Block>> Blocks for B {}

/// One block of depth.
#[derive(Clone, Copy)]
struct Piece<'a> {
    a: Matrix<'a>,
    first: usize,
    len: usize,
    /// `[panel][depth]`
    block: &'a [Block],
    is_added: bool,
}

impl<'a> Piece<'a> {
    /// Neighbouring panels from one on, each `[depth]`; where fewer are left, the last stands for those that are not
    /// there.
    #[inline(always)]
    fn panels<const PANELS: usize>(&self, panel: usize) -> [&'a [Block]; PANELS] {
        let last = self.block.len() / self.len - 1;
        std::array::from_fn(|idx| &self.block[(panel + idx).min(last) * self.len..][..self.len])
    }

    /// For a row-major `a`.
    #[inline(always)]
    fn of_rows<B: Blocks, const ROWS: usize, const PANELS: usize>(self, c: &mut SomeColumns<'_>) {
        let (n_rows, n_panels) = (c.n_rows(), self.block.len() / self.len);
        for panel in (0..n_panels).step_by(PANELS) {
            let panels = self.panels::<PANELS>(panel);
            for row in (0..n_rows).step_by(ROWS) {
                // The same with rows.
                let rows: [&[f32]; ROWS] = std::array::from_fn(|idx| {
                    let start = (row + idx).min(n_rows - 1) * self.a.row_stride + self.first;
                    &self.a.numbers[start..][..self.len]
                });
                store_tile::<B, ROWS, PANELS>(
                    tile_of_rows::<B, ROWS, PANELS>(rows, panels),
                    c,
                    (row, panel * COLS),
                    self.is_added,
                );
            }
        }
    }

    /// For any other layout of `a`: a few of its rows are packed for all panels.
    #[inline(always)]
    fn of_columns<B: Blocks, const ROWS: usize, const PANELS: usize>(self, c: &mut SomeColumns<'_>) {
        let (n_rows, n_panels) = (c.n_rows(), self.block.len() / self.len);
        let mut near = [[0.0; ROWS]; DEPTH];
        for row in (0..n_rows).step_by(ROWS) {
            for (depth, near) in near[..self.len].iter_mut().enumerate() {
                *near =
                    std::array::from_fn(|idx| self.a.get((row + idx).min(n_rows - 1), self.first + depth));
            }
            for panel in (0..n_panels).step_by(PANELS) {
                let sums = tile_of_columns::<B, ROWS, PANELS>(&near[..self.len], self.panels(panel));
                store_tile::<B, ROWS, PANELS>(sums, c, (row, panel * COLS), self.is_added);
            }
        }
    }
}

#[inline(always)]
fn tile_of_rows<B: Blocks, const ROWS: usize, const PANELS: usize>(
    rows: [&[f32]; ROWS],
    panels: [&[Block]; PANELS],
) -> [[B::V; PANELS]; ROWS] {
    let mut sums = [[B::zero(); PANELS]; ROWS];
    // By chunks: one bounds check for several products.
    let n_chunks = panels[0].len() / UNROLLED;
    let row_chunks = rows.map(|row| &row.as_chunks::<UNROLLED>().0[..n_chunks]);
    let panel_chunks = panels.map(|panel| &panel.as_chunks::<UNROLLED>().0[..n_chunks]);
    for idx in 0..n_chunks {
        let (x, cols) = (row_chunks.map(|chunks| &chunks[idx]), panel_chunks.map(|chunks| &chunks[idx]));
        for depth in 0..UNROLLED {
            add_column::<B, ROWS, PANELS>(&mut sums, x.map(|x| x[depth]), cols.map(|cols| &cols[depth]));
        }
    }
    for depth in n_chunks * UNROLLED..panels[0].len() {
        add_column::<B, ROWS, PANELS>(
            &mut sums,
            rows.map(|row| row[depth]),
            panels.map(|panel| &panel[depth]),
        );
    }
    sums
}

#[inline(always)]
fn tile_of_columns<B: Blocks, const ROWS: usize, const PANELS: usize>(
    columns: &[[f32; ROWS]],
    panels: [&[Block]; PANELS],
) -> [[B::V; PANELS]; ROWS] {
    let mut sums = [[B::zero(); PANELS]; ROWS];
    let panels = panels.map(|panel| &panel[..columns.len()]);
    for (depth, column) in columns.iter().enumerate() {
        add_column::<B, ROWS, PANELS>(&mut sums, *column, panels.map(|panel| &panel[depth]));
    }
    sums
}

/// One column of `a` times one row of `b`.
#[inline(always)]
fn add_column<B: Blocks, const ROWS: usize, const PANELS: usize>(
    sums: &mut [[B::V; PANELS]; ROWS],
    column: [f32; ROWS],
    cols: [&Block; PANELS],
) {
    let cols = cols.map(B::load);
    for (sums, x) in sums.iter_mut().zip(column) {
        let x = B::splat(x);
        for (sum, &cols) in sums.iter_mut().zip(&cols) {
            *sum = B::mul_add(x, cols, *sum);
        }
    }
}

/// Stores a tile in the product, or adds it; rows and columns outside the product are skipped.
#[inline(always)]
fn store_tile<B: Blocks, const ROWS: usize, const PANELS: usize>(
    sums: [[B::V; PANELS]; ROWS],
    c: &mut SomeColumns<'_>,
    (row, col): (usize, usize),
    is_added: bool,
) {
    let n_rows = c.n_rows();
    for (idx, sums) in sums.iter().enumerate().take(n_rows - row) {
        let start = (row + idx) * c.stride + c.first;
        let (blocks, rest) = c.numbers[start + col..start + c.n].as_chunks_mut::<COLS>();
        let n_whole = blocks.len();
        for (block, &sum) in blocks.iter_mut().zip(sums) {
            B::store(if is_added { B::add(B::load(block), sum) } else { sum }, block);
        }
        if let Some(&sum) = sums.get(n_whole) {
            let mut last = [0.0; COLS];
            B::store(sum, &mut last);
            for (c, sum) in rest.iter_mut().zip(last) {
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
                    packed.pack(instructions, b);
                    add_matrix_product(instructions, a, &packed, &mut c);
                    // Between two columns that stay unchanged.
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
