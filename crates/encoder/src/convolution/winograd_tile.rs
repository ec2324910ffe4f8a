//! Winograd's F(4 x 4, 3 x 3) on eight channels at a time (Lavin and Gray, "Fast algorithms for convolutional neural
//! networks"): a 4 x 4 tile of outputs from a 6 x 6 patch of inputs with 36 multiplications instead of 144.
//!
//! `out = A^T [ (G g G^T) * (B^T d B) ] A`, with the interpolation points 0, 1, -1, 2, -2 and infinity.

/// Products of a tile.
pub(super) const N_POINTS: usize = 36;
/// Rows and columns of the patch that a tile reads.
pub(super) const PATCH_SIDE: usize = 6;
/// Channels that are transformed together.
pub(super) const N_LANES: usize = 8;

/// Eight channels of one pixel.
pub(super) type Lanes = [f32; N_LANES];

#[inline(always)]
fn each(f: impl Fn(usize) -> f32) -> Lanes {
    std::array::from_fn(f)
}

/// One dimension of `B^T d`.
#[inline(always)]
fn input_line(d: [Lanes; 6]) -> [Lanes; 6] {
    // Shared by pairs of rows: (1, 2) and (3, 4) of B^T differ only in the sign of their odd entries.
    let even_12 = each(|i| d[4][i] - 4.0 * d[2][i]);
    let odd_12 = each(|i| d[3][i] - 4.0 * d[1][i]);
    let even_34 = each(|i| d[4][i] - d[2][i]);
    let odd_34 = each(|i| 2.0 * (d[3][i] - d[1][i]));
    [
        each(|i| 4.0 * d[0][i] - 5.0 * d[2][i] + d[4][i]),
        each(|i| even_12[i] + odd_12[i]),
        each(|i| even_12[i] - odd_12[i]),
        each(|i| even_34[i] + odd_34[i]),
        each(|i| even_34[i] - odd_34[i]),
        each(|i| 4.0 * d[1][i] - 5.0 * d[3][i] + d[5][i]),
    ]
}

/// One dimension of `A^T m`.
#[inline(always)]
fn output_line(m: [Lanes; 6]) -> [Lanes; 4] {
    let sum_12 = each(|i| m[1][i] + m[2][i]);
    let diff_12 = each(|i| m[1][i] - m[2][i]);
    let sum_34 = each(|i| m[3][i] + m[4][i]);
    let diff_34 = each(|i| m[3][i] - m[4][i]);
    [
        each(|i| m[0][i] + sum_12[i] + sum_34[i]),
        each(|i| diff_12[i] + 2.0 * diff_34[i]),
        each(|i| sum_12[i] + 4.0 * sum_34[i]),
        each(|i| diff_12[i] + 8.0 * diff_34[i] + m[5][i]),
    ]
}

/// `B^T d B`: `patch(row, column)` gives the inputs, `put(point, ..)` takes the 36 results.
#[inline(always)]
pub(super) fn transform_input(patch: impl Fn(usize, usize) -> Lanes, mut put: impl FnMut(usize, Lanes)) {
    let mut columns = [[[0.0; N_LANES]; 6]; 6];
    for (col, transformed) in columns.iter_mut().enumerate() {
        *transformed = input_line(std::array::from_fn(|row| patch(row, col)));
    }
    let transposed: [[Lanes; 6]; 6] = std::array::from_fn(|row| std::array::from_fn(|col| columns[col][row]));
    for (row, &line) in transposed.iter().enumerate() {
        let line = input_line(line);
        for (col, &lanes) in line.iter().enumerate() {
            put(row * PATCH_SIDE + col, lanes);
        }
    }
}

/// `A^T m A`: `product(point)` gives the 36 products; `[row][column]` of the tile of outputs.
#[inline(always)]
pub(super) fn transform_output(product: impl Fn(usize) -> Lanes) -> [[Lanes; 4]; 4] {
    let mut columns = [[[0.0; N_LANES]; 4]; 6];
    for (col, transformed) in columns.iter_mut().enumerate() {
        *transformed = output_line(std::array::from_fn(|row| product(row * PATCH_SIDE + col)));
    }
    std::array::from_fn(|row| output_line(std::array::from_fn(|col| columns[col][row])))
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

    /// A tile by Winograd's transforms against the sum it stands for.
    #[test]
    fn a_tile_is_the_convolution_of_its_patch() {
        let patch_at =
            |row: usize, col: usize| each(|lane| ((row * 31 + col * 17 + lane * 7) % 23) as f32 - 11.0);
        let kernel: [f32; 9] = std::array::from_fn(|at| ((at * 5) % 7) as f32 - 3.0);
        let points = transform_kernel(kernel);
        let mut products = [[0.0; N_LANES]; N_POINTS];
        transform_input(patch_at, |point, lanes| products[point] = lanes.map(|x| x * points[point]));
        let tile = transform_output(|point| products[point]);
        for (row, line) in tile.iter().enumerate() {
            for (col, lanes) in line.iter().enumerate() {
                let expected = each(|lane| {
                    let terms = (0..9).map(|at| kernel[at] * patch_at(row + at / 3, col + at % 3)[lane]);
                    terms.sum()
                });
                for lane in 0..N_LANES {
                    let difference = (lanes[lane] - expected[lane]).abs();
                    assert!(difference < 2e-3, "row {row} col {col} lane {lane}: off by {difference}");
                }
            }
        }
    }
}
