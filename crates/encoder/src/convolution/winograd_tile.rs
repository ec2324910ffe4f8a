//! Winograd's F(4 x 4, 3 x 3) on sixteen channels at a time (Lavin and Gray, "Fast algorithms for convolutional neural
//! networks"): a 4 x 4 tile of outputs from a 6 x 6 patch of inputs with 36 multiplications instead of 144.
//!
//! `out = A^T [ (G g G^T) * (B^T d B) ] A`, with the interpolation points 0, 1, -1, 2, -2 and infinity.
//!
//! The factors of multiply-adds below are powers of two, so the products are exact: fused or not, the result is the
//! same.

use crate::arithmetic::F32x16;

/// Products of a tile.
pub(super) const N_POINTS: usize = 36;
/// Rows and columns of a tile's inputs.
pub(super) const PATCH_SIDE: usize = 6;

/// One dimension of `B^T d`.
#[inline(always)]
fn input_line<F: F32x16>(d: [F; 6]) -> [F; 6] {
    let [two, four] = [F::splat(2.0), F::splat(4.0)];
    let [minus_two, minus_four, minus_five] = [F::splat(-2.0), F::splat(-4.0), F::splat(-5.0)];
    // Shared by pairs of rows: (1, 2) and (3, 4) of B^T differ only in the sign of their odd entries.
    let even_12 = d[2].mul_add(minus_four, d[4]);
    let odd_12 = d[1].mul_add(minus_four, d[3]);
    let even_34 = d[4].sub(d[2]);
    let half_odd_34 = d[3].sub(d[1]);
    [
        d[0].mul_add(four, d[2].mul(minus_five)).add(d[4]),
        even_12.add(odd_12),
        even_12.sub(odd_12),
        half_odd_34.mul_add(two, even_34),
        half_odd_34.mul_add(minus_two, even_34),
        d[1].mul_add(four, d[3].mul(minus_five)).add(d[5]),
    ]
}

/// One dimension of `A^T m`.
#[inline(always)]
fn output_line<F: F32x16>(m: [F; 6]) -> [F; 4] {
    let sum_12 = m[1].add(m[2]);
    let diff_12 = m[1].sub(m[2]);
    let sum_34 = m[3].add(m[4]);
    let diff_34 = m[3].sub(m[4]);
    [
        m[0].add(sum_12).add(sum_34),
        diff_34.mul_add(F::splat(2.0), diff_12),
        sum_34.mul_add(F::splat(4.0), sum_12),
        diff_34.mul_add(F::splat(8.0), diff_12).add(m[5]),
    ]
}

/// An array of six values. A closure would not be inlined at this size.
macro_rules! six {
    ($at:ident => $value:expr) => {
        six!($at => $value; 0 1 2 3 4 5)
    };
    ($at:ident => $value:expr; $($idx:literal)*) => { [$(six!(@ $at $idx $value)),*] };
    (@ $at:ident $idx:literal $value:expr) => {{
        const $at: usize = $idx;
        $value
    }};
}

/// One row of six columns.
#[inline(always)]
fn across<F: F32x16, const N_ROWS: usize>(columns: &[[F; N_ROWS]; 6], row: usize) -> [F; 6] {
    six!(COL => columns[COL][row])
}

/// `B^T d B`: `patch(row, column)` returns the inputs, `put(point, ..)` receives the 36 results.
#[inline(always)]
pub(super) fn transform_input<F: F32x16>(patch: impl Fn(usize, usize) -> F, mut put: impl FnMut(usize, F)) {
    let columns: [[F; 6]; 6] = six!(COL => input_line(six!(ROW => patch(ROW, COL))));
    for row in 0..PATCH_SIDE {
        let line = input_line(across(&columns, row));
        for (col, x) in line.into_iter().enumerate() {
            put(row * PATCH_SIDE + col, x);
        }
    }
}

/// `A^T m A`: `product(point)` returns the 36 products; the result is the tile of outputs, `[row][column]`.
#[inline(always)]
pub(super) fn transform_output<F: F32x16>(product: impl Fn(usize) -> F) -> [[F; 4]; 4] {
    let columns: [[F; 4]; 6] = six!(COL => output_line(six!(ROW => product(ROW * PATCH_SIDE + COL))));
    let mut tile = [[columns[0][0]; 4]; 4];
    for (row, line) in tile.iter_mut().enumerate() {
        *line = output_line(across(&columns, row));
    }
    tile
}

/// `G g G^T` of one 3 x 3 kernel.
pub(super) fn transform_kernel(kernel: [f32; 9]) -> [f32; N_POINTS] {
    const G: [[f64; 3]; 6] = [
        [1.0 / 4.0, 0.0, 0.0],
        [-1.0 / 6.0, -1.0 / 6.0, -1.0 / 6.0],
        [-1.0 / 6.0, 1.0 / 6.0, -1.0 / 6.0],
        [1.0 / 24.0, 1.0 / 12.0, 1.0 / 6.0],
        [1.0 / 24.0, -1.0 / 12.0, 1.0 / 6.0],
        [0.0, 0.0, 1.0],
    ];
    std::array::from_fn(|point| {
        let (row, col) = (G[point / PATCH_SIDE], G[point % PATCH_SIDE]);
        let terms = (0..9).map(|at| row[at / 3] * f64::from(kernel[at]) * col[at % 3]);
        terms.sum::<f64>() as f32
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arithmetic::{Instructions, Kernel, Lanes, N_LANES};

    fn patch_at(row: usize, col: usize) -> Lanes {
        std::array::from_fn(|lane| ((row * 31 + col * 17 + lane * 7) % 23) as f32 - 11.0)
    }

    struct OneTile<'a> {
        kernel: [f32; 9],
        tile: &'a mut [[Lanes; 4]; 4],
    }

    impl Kernel for OneTile<'_> {
        #[inline(always)]
        fn run<F: F32x16>(self) {
            let points = transform_kernel(self.kernel);
            let mut products = [F::splat(0.0); N_POINTS];
            transform_input(
                |row, col| F::load(&patch_at(row, col)),
                |point, x: F| products[point] = x.mul(F::splat(points[point])),
            );
            let tile = transform_output(|point| products[point]);
            for (line, lanes) in tile.iter().flatten().zip(self.tile.iter_mut().flatten()) {
                line.store(lanes);
            }
        }
    }

    /// One tile by Winograd's transforms equals the convolution of its patch.
    #[test]
    fn a_tile_equals_the_convolution_of_its_patch() {
        let kernel: [f32; 9] = std::array::from_fn(|at| ((at * 5) % 7) as f32 - 3.0);
        for instructions in Instructions::all() {
            let mut tile = [[[0.0; N_LANES]; 4]; 4];
            instructions.run(OneTile { kernel, tile: &mut tile });
            for (row, line) in tile.iter().enumerate() {
                for (col, lanes) in line.iter().enumerate() {
                    for (lane, found) in lanes.iter().enumerate() {
                        let terms = (0..9).map(|at| kernel[at] * patch_at(row + at / 3, col + at % 3)[lane]);
                        let difference = (found - terms.sum::<f32>()).abs();
                        assert!(difference < 2e-3, "row {row} col {col} lane {lane}: off by {difference}");
                    }
                }
            }
        }
    }
}
