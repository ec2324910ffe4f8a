//! The units that read the touch, and which of them change sign among some candidates.

use crate::arithmetic::{Block, N_BLOCK, SimdVector};

/// A unit's pre-activation at the touch `row, col`: `sign * (middle + row_slope * row + col_slope * col)`, where the
/// expression in parentheses is above 0 in the middle of the screen.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Unit {
    pub sign: f32,
    pub middle: f32,
    pub row_slope: f32,
    pub col_slope: f32,
}

impl Unit {
    /// From the pre-activation in the middle of the screen and its derivatives by row and column.
    pub fn new(pre_activation: [f32; 3]) -> Self {
        let sign = if pre_activation[0] > 0.0 { 1.0 } else { -1.0 };
        let [middle, row_slope, col_slope] = pre_activation.map(|x| sign * x);
        Self { sign, middle, row_slope, col_slope }
    }
}

/// Sixteen units.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UnitBlock {
    pub signs: Block,
    pub middles: Block,
    pub row_slopes: Block,
    pub col_slopes: Block,
}

impl UnitBlock {
    /// Padding after the last unit: positive everywhere.
    pub const NO_UNITS: Self = Self {
        signs: [1.0; N_BLOCK],
        middles: [1.0; N_BLOCK],
        row_slopes: [0.0; N_BLOCK],
        col_slopes: [0.0; N_BLOCK],
    };

    pub fn set(&mut self, lane: usize, unit: Unit) {
        self.signs[lane] = unit.sign;
        self.middles[lane] = unit.middle;
        self.row_slopes[lane] = unit.row_slope;
        self.col_slopes[lane] = unit.col_slope;
    }

    /// One bit per unit: whether it may be below 0, or NaN, somewhere in a rectangle. Rounded sums are monotonic in
    /// their terms, so the minimum is at a corner.
    #[inline(always)]
    pub fn below_in<B: SimdVector<Memory = Block>>(&self, Bounds { rows, cols }: Bounds) -> u32 {
        let lowest = |slopes: B::V, [min, max]: [f32; 2]| {
            B::select_less(slopes, B::zero(), B::splat(max), B::splat(min))
        };
        let (row_slopes, col_slopes) = (B::load(&self.row_slopes), B::load(&self.col_slopes));
        let with_row = B::mul_add(row_slopes, lowest(row_slopes, rows), B::load(&self.middles));
        B::below_zero(B::mul_add(col_slopes, lowest(col_slopes, cols), with_row))
    }
}

/// The bounding rectangle of some candidates.
#[derive(Clone, Copy)]
pub(crate) struct Bounds {
    rows: [f32; 2],
    cols: [f32; 2],
}

impl Bounds {
    #[inline(always)]
    pub fn of<const BLOCKS: usize>(rows: &[Block; BLOCKS], cols: &[Block; BLOCKS]) -> Self {
        Self { rows: extremes(rows), cols: extremes(cols) }
    }
}

/// Minimum and maximum.
#[inline(always)]
fn extremes<const BLOCKS: usize>(blocks: &[Block; BLOCKS]) -> [f32; 2] {
    let smaller = |a: f32, b: f32| if a < b { a } else { b };
    let larger = |a: f32, b: f32| if a > b { a } else { b };
    let (mut least, mut most) = (blocks[0], blocks[0]);
    for block in &blocks[1..] {
        for idx in 0..N_BLOCK {
            least[idx] = smaller(least[idx], block[idx]);
            most[idx] = larger(most[idx], block[idx]);
        }
    }
    let mut n = N_BLOCK / 2;
    while n > 0 {
        for idx in 0..n {
            least[idx] = smaller(least[idx], least[idx + n]);
            most[idx] = larger(most[idx], most[idx + n]);
        }
        n /= 2;
    }
    [least[0], most[0]]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arithmetic::{Arithmetic, Instructions, Kernel};

    /// Compares with the pre-activation at each candidate: no unit that is below 0 is missed, and some are skipped.
    struct Check;

    impl Kernel for Check {
        #[inline(always)]
        fn run<A: Arithmetic>(self) {
            let at = |idx: usize, seed: usize| ((idx * 37 + seed * 101) % 64) as f32 / 32.0 - 1.0;
            let (mut n_found, mut n_below) = (0, 0);
            for seed in 0..50 {
                let mut units = UnitBlock::NO_UNITS;
                // The last three are padding.
                for lane in 0..N_BLOCK - 3 {
                    units.set(
                        lane,
                        Unit::new([at(lane, seed), at(lane, seed + 7) / 2.0, at(lane, seed + 9) / 2.0]),
                    );
                }
                let place = |first: usize| {
                    std::array::from_fn(|idx| 0.3 * at(idx, seed + first) + at(first, seed) / 2.0)
                };
                let (rows, cols): ([Block; 2], [Block; 2]) = ([place(1), place(2)], [place(3), place(4)]);
                let found = units.below_in::<A::Blocks>(Bounds::of(&rows, &cols));
                let mut below = 0;
                for (rows, cols) in rows.iter().zip(&cols) {
                    for (&row, &col) in rows.iter().zip(cols) {
                        for lane in 0..N_BLOCK {
                            let x = A::mul_add_one(units.row_slopes[lane], row, units.middles[lane]);
                            let x = A::mul_add_one(units.col_slopes[lane], col, x);
                            below |= u32::from(x < 0.0) << lane;
                        }
                    }
                }
                assert_eq!(below & !found, 0, "missed");
                assert_eq!(found >> (N_BLOCK - 3), 0, "padding");
                (n_found, n_below) = (n_found + found.count_ones(), n_below + below.count_ones());
            }
            assert!(n_below > 50 && n_found < 50 * 13 * 3 / 4, "{n_below} below, {n_found} found");
        }
    }

    #[test]
    fn no_unit_that_changes_sign_is_missed() {
        Instructions::all().for_each(|instructions| instructions.run(Check));
    }

    #[test]
    fn a_unit_that_is_nan_is_found() {
        struct NotANumber;
        impl Kernel for NotANumber {
            #[inline(always)]
            fn run<A: Arithmetic>(self) {
                let mut units = UnitBlock::NO_UNITS;
                units.set(2, Unit::new([1.0, f32::NAN, 0.0]));
                let touches = [[0.5; N_BLOCK]];
                assert_eq!(units.below_in::<A::Blocks>(Bounds::of(&touches, &touches)), 1 << 2);
            }
        }
        Instructions::all().for_each(|instructions| instructions.run(NotANumber));
    }
}
