//! Systems of linear equations with one symmetric matrix and several right sides, each over rows of its own.

use rayon::prelude::*;

/// A symmetric matrix with numbers of no negative direction, `[n, n]`.
pub struct Gram {
    n: usize,
    numbers: Vec<f32>,
}

/// Rows that are multiplied with a column while it is in the cache.
const BLOCK: usize = 8;
const N_LANES: usize = 16;

impl Gram {
    /// All inner products of vectors, which are `[n, len]`.
    pub fn of(vectors: &[f32], len: usize) -> Self {
        let n = vectors.len() / len;
        let mut numbers = vec![0.0; n * n];
        numbers.par_chunks_mut(BLOCK * n).zip(vectors.par_chunks(BLOCK * len)).for_each(|(out, block)| {
            for (col, other) in vectors.chunks_exact(len).enumerate() {
                for (row, vector) in block.chunks_exact(len).enumerate() {
                    out[row * n + col] = inner_product(vector, other);
                }
            }
        });
        Self { n, numbers }
    }

    /// The mean of the diagonal.
    pub fn mean_diagonal(&self) -> f64 {
        let diagonal = self.numbers.iter().step_by(self.n + 1);
        diagonal.map(|&number| f64::from(number)).sum::<f64>() / self.n as f64
    }

    /// The product with columns, `[n, n_columns]`.
    pub fn times(&self, columns: &[f64], n_columns: usize) -> Vec<f64> {
        let mut product = vec![0.0; self.n * n_columns];
        product.par_chunks_mut(n_columns).zip(self.numbers.par_chunks(self.n)).for_each(|(out, row)| {
            for (&number, column) in row.iter().zip(columns.chunks_exact(n_columns)) {
                let number = f64::from(number);
                out.iter_mut().zip(column).for_each(|(out, x)| *out += number * x);
            }
        });
        product
    }
}

fn inner_product(one: &[f32], other: &[f32]) -> f32 {
    let mut lanes = [0.0_f32; N_LANES];
    let (ones, one_rest) = one.as_chunks::<N_LANES>();
    let (others, other_rest) = other.as_chunks::<N_LANES>();
    for (a, b) in ones.iter().zip(others) {
        for ((lane, a), b) in lanes.iter_mut().zip(a).zip(b) {
            *lane += a * b;
        }
    }
    let rest: f32 = one_rest.iter().zip(other_rest).map(|(a, b)| a * b).sum();
    lanes.iter().sum::<f32>() + rest
}

/// What a solution may miss a right side by, as a share of its norm.
const TOLERANCE: f64 = 1e-5;
const MAX_ROUNDS: usize = 2000;

/// Several right sides, and which rows each is about; the others count as 0 on both sides.
pub struct Systems<'a> {
    pub gram: &'a Gram,
    /// What is added to the diagonal.
    pub ridge: f64,
    /// `[n, n_columns]`
    pub right_sides: &'a [f64],
    pub n_columns: usize,
    /// Whether a column is about a row.
    pub is_about: &'a (dyn Fn(usize, usize) -> bool + Sync),
}

impl Systems<'_> {
    /// Solves `(gram + ridge) x = right side` for every column by conjugate gradients, starting from `x`, `[n, n_columns]`.
    pub fn solve(&self, x: &mut [f64]) {
        let n_columns = self.n_columns;
        let mut wanted = self.right_sides.to_vec();
        self.mask(&mut wanted);
        let mut residual = wanted.clone();
        subtract(&mut residual, &self.apply(x));
        let mut direction = residual.clone();
        let mut size = sums_of_products(&residual, &residual, n_columns);
        let small = sums_of_products(&wanted, &wanted, n_columns);
        let small: Vec<f64> = small.iter().map(|size| size * TOLERANCE * TOLERANCE).collect();
        for _ in 0..MAX_ROUNDS {
            if size.iter().zip(&small).all(|(size, small)| size <= small) {
                break;
            }
            let moved = self.apply(&direction);
            let curvature = sums_of_products(&direction, &moved, n_columns);
            let rate: Vec<f64> = size.iter().zip(&curvature).map(|(&size, &c)| quotient(size, c)).collect();
            for row in 0..self.gram.n {
                for (column, rate) in rate.iter().enumerate() {
                    let at = row * n_columns + column;
                    x[at] += rate * direction[at];
                    residual[at] -= rate * moved[at];
                }
            }
            let new_size = sums_of_products(&residual, &residual, n_columns);
            for row in direction.chunks_exact_mut(n_columns).zip(residual.chunks_exact(n_columns)) {
                for (((d, r), &new), &old) in row.0.iter_mut().zip(row.1).zip(&new_size).zip(&size) {
                    *d = r + quotient(new, old) * *d;
                }
            }
            size = new_size;
        }
    }

    fn apply(&self, x: &[f64]) -> Vec<f64> {
        let mut product = self.gram.times(x, self.n_columns);
        product.iter_mut().zip(x).for_each(|(product, x)| *product += self.ridge * x);
        self.mask(&mut product);
        product
    }

    fn mask(&self, columns: &mut [f64]) {
        for (row, numbers) in columns.chunks_exact_mut(self.n_columns).enumerate() {
            for (column, number) in numbers.iter_mut().enumerate() {
                if !(self.is_about)(row, column) {
                    *number = 0.0;
                }
            }
        }
    }
}

/// 0 where nothing is left to divide: that column is solved.
fn quotient(above: f64, below: f64) -> f64 {
    if below > 0.0 { above / below } else { 0.0 }
}

fn subtract(from: &mut [f64], what: &[f64]) {
    from.iter_mut().zip(what).for_each(|(from, what)| *from -= what);
}

/// For each column.
fn sums_of_products(one: &[f64], other: &[f64], n_columns: usize) -> Vec<f64> {
    let mut sums = vec![0.0; n_columns];
    for (a, b) in one.chunks_exact(n_columns).zip(other.chunks_exact(n_columns)) {
        sums.iter_mut().zip(a.iter().zip(b)).for_each(|(sum, (a, b))| *sum += a * b);
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solutions_fulfil_their_equations_over_their_rows() {
        let number = |idx: usize| ((idx * 7919 + 13) % 101) as f32 / 50.0 - 1.0;
        let (n, len) = (37, 53);
        let vectors: Vec<f32> = (0..n * len).map(number).collect();
        let gram = Gram::of(&vectors, len);
        let right_sides: Vec<f64> = (0..2 * n).map(|idx| f64::from(number(idx + 5))).collect();
        // The second column leaves every third row out.
        let is_about = |row: usize, column: usize| column == 0 || !row.is_multiple_of(3);
        let systems =
            Systems { gram: &gram, ridge: 0.5, right_sides: &right_sides, n_columns: 2, is_about: &is_about };
        let mut x = vec![0.0; 2 * n];
        systems.solve(&mut x);
        for column in 0..2 {
            for row in 0..n {
                if !is_about(row, column) {
                    assert_eq!(x[row * 2 + column], 0.0);
                    continue;
                }
                let product: f64 = (0..n)
                    .map(|other| {
                        let inner: f64 = (0..len)
                            .map(|at| {
                                f64::from(vectors[row * len + at]) * f64::from(vectors[other * len + at])
                            })
                            .sum();
                        inner * x[other * 2 + column]
                    })
                    .sum();
                let found = product + 0.5 * x[row * 2 + column];
                let wanted = right_sides[row * 2 + column];
                assert!((found - wanted).abs() < 1e-3, "{row}, {column}: {found} instead of {wanted}");
            }
        }
    }
}
