//! A set of pixels, stored as runs along rows: an object's pixels on the screen.

use crate::pixel_box::PixelBox;
use crate::touch::{N_TOUCHES, SCREEN_SIDE_PX, Touch};

/// A set of screen pixels. A typical object takes a few hundred bytes.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Mask {
    /// In reading order; runs of one row neither touch nor overlap.
    runs: Box<[Run]>,
}

/// Neighbouring pixels of one row, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    row: u8,
    first_col: u8,
    last_col: u8,
}

impl Mask {
    /// The pixels for which `inside(row, col)` is true.
    pub fn from_fn(mut inside: impl FnMut(usize, usize) -> bool) -> Self {
        let mut runs = Vec::new();
        for row in 0..SCREEN_SIDE_PX {
            let mut first_col = None;
            for col in 0..=SCREEN_SIDE_PX {
                let is_inside = col < SCREEN_SIDE_PX && inside(row, col);
                match (is_inside, first_col) {
                    (true, None) => first_col = Some(col),
                    (false, Some(first)) => {
                        runs.push(Run { row: row as u8, first_col: first as u8, last_col: (col - 1) as u8 });
                        first_col = None;
                    }
                    _ => {}
                }
            }
        }
        Self { runs: runs.into_boxed_slice() }
    }

    /// The pixels that belong to at least one of the masks.
    pub fn union_of<'a>(masks: impl IntoIterator<Item = &'a Self>) -> Self {
        let mut is_inside = vec![false; N_TOUCHES];
        masks.into_iter().for_each(|mask| mask.for_each_run(|run| is_inside[run].fill(true)));
        Self::from_fn(|row, col| is_inside[row * SCREEN_SIDE_PX + col])
    }

    pub fn area_px(&self) -> usize {
        self.runs.iter().map(|run| (run.last_col - run.first_col) as usize + 1).sum()
    }

    /// Whether a touch lands on one of the pixels.
    pub fn contains(&self, touch: Touch) -> bool {
        let (row, col) = (touch.row() as u8, touch.col() as u8);
        let n_before = self.runs.partition_point(|run| (run.row, run.first_col) <= (row, col));
        n_before > 0 && {
            let run = self.runs[n_before - 1];
            run.row == row && col <= run.last_col
        }
    }

    /// Number of pixels that belong to both masks.
    pub fn n_shared_px(&self, other: &Self) -> usize {
        let (mut mine, mut theirs) = (self.runs.iter().peekable(), other.runs.iter().peekable());
        let mut n_shared = 0;
        while let (Some(a), Some(b)) = (mine.peek(), theirs.peek()) {
            if a.row == b.row {
                let first = usize::from(a.first_col.max(b.first_col));
                n_shared += (usize::from(a.last_col.min(b.last_col)) + 1).saturating_sub(first);
            }
            // The run that ends first cannot share anything with later runs.
            if (a.row, a.last_col) <= (b.row, b.last_col) {
                mine.next();
            } else {
                theirs.next();
            }
        }
        n_shared
    }

    /// The smallest box around the pixels, `None` if there are none.
    pub fn bounds(&self) -> Option<PixelBox> {
        let (first, last) = (self.runs.first()?, self.runs.last()?);
        let left = self.runs.iter().map(|run| run.first_col).min()?;
        let right = self.runs.iter().map(|run| run.last_col).max()?;
        let corner = |row: u8, col: u8| Touch::new(row.into(), col.into()).ok();
        Some(PixelBox::spanned_by(corner(first.row, left)?, corner(last.row, right)?))
    }

    /// Calls `visit` with each run as a range of row-major touch indices, in reading order.
    pub fn for_each_run(&self, mut visit: impl FnMut(std::ops::Range<usize>)) {
        for run in &self.runs {
            let row_start = run.row as usize * SCREEN_SIDE_PX;
            visit(row_start + run.first_col as usize..row_start + run.last_col as usize + 1);
        }
    }

    /// The mask as `(row, first column, last column)` runs in reading order, for storing.
    pub fn runs(&self) -> impl ExactSizeIterator<Item = (u8, u8, u8)> + '_ {
        self.runs.iter().map(|run| (run.row, run.first_col, run.last_col))
    }

    /// The mask of stored runs; `None` unless they are on the screen, in reading order and separated.
    pub fn from_runs(runs: impl IntoIterator<Item = (u8, u8, u8)>) -> Option<Self> {
        let mut kept: Vec<Run> = Vec::new();
        for (row, first_col, last_col) in runs {
            let on_screen = usize::from(row) < SCREEN_SIDE_PX && usize::from(last_col) < SCREEN_SIDE_PX;
            let after_last = kept.last().is_none_or(|last| {
                last.row < row || last.row == row && usize::from(last.last_col) + 1 < usize::from(first_col)
            });
            if !on_screen || first_col > last_col || !after_last {
                return None;
            }
            kept.push(Run { row, first_col, last_col });
        }
        Some(Self { runs: kept.into_boxed_slice() })
    }

    /// The covered share of the screen: the expected reward of a uniform touch if the mask is rewarded.
    pub fn coverage(&self) -> f64 {
        self.area_px() as f64 / N_TOUCHES as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_mask_holds_exactly_its_pixels(seed in any::<u32>(), density in 1_u32..64) {
            let inside = |row: usize, col: usize| {
                let mixed = (row as u32).wrapping_mul(2_654_435_761).wrapping_add(col as u32 * 40_503).wrapping_mul(seed | 1);
                (mixed >> 16) % 64 < density
            };
            let mask = Mask::from_fn(inside);
            let n_inside = Touch::all().filter(|t| inside(t.row(), t.col())).count();
            prop_assert_eq!(mask.area_px(), n_inside);
            prop_assert!(Touch::all().all(|t| mask.contains(t) == inside(t.row(), t.col())));
            prop_assert_eq!(Mask::from_runs(mask.runs()), Some(mask.clone()));
            let other = Mask::from_fn(|row, col| inside(col, row) || row % 7 == 3);
            let n_both = Touch::all().filter(|&t| mask.contains(t) && other.contains(t)).count();
            prop_assert_eq!(mask.n_shared_px(&other), n_both);
            prop_assert_eq!(other.n_shared_px(&mask), n_both);
            let either = Mask::union_of([&mask, &other]);
            prop_assert_eq!(either.area_px(), mask.area_px() + other.area_px() - n_both);
            prop_assert!(Touch::all().all(|t| either.contains(t) == (mask.contains(t) || other.contains(t))));
            let mut painted = vec![false; N_TOUCHES];
            mask.for_each_run(|run| painted[run].fill(true));
            prop_assert!(Touch::all().all(|t| painted[t.index()] == inside(t.row(), t.col())));
        }
    }

    #[test]
    fn bounds_are_tight() {
        let mask = Mask::from_fn(|row, col| (row, col) == (3, 200) || (row, col) == (90, 7));
        let bounds = mask.bounds().unwrap();
        assert_eq!((bounds.top(), bounds.left(), bounds.bottom(), bounds.right()), (3, 7, 90, 200));
        assert_eq!(Mask::default().bounds(), None);
    }

    #[test]
    fn invalid_stored_runs_are_rejected() {
        for runs in [
            vec![(224, 0, 1)],
            vec![(0, 5, 4)],
            vec![(0, 0, 224)],
            vec![(1, 0, 3), (0, 0, 3)],
            vec![(0, 0, 3), (0, 4, 5)],
        ] {
            assert_eq!(Mask::from_runs(runs.clone()), None, "{runs:?}");
        }
    }
}
