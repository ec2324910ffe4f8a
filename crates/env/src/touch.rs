//! A touch: one pixel of the screen, the agent's only action.

use crate::seed::RandomStream;
use serde::{Deserialize, Serialize};

/// Height and width of the screen, and of touch coordinates, in pixels.
pub const SCREEN_SIDE_PX: usize = 224;

/// Number of different touches: 50,176.
pub const N_TOUCHES: usize = SCREEN_SIDE_PX * SCREEN_SIDE_PX;

/// One pixel of the screen: row and column from the top left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "(usize, usize)", into = "(usize, usize)")]
pub struct Touch {
    row: u8,
    col: u8,
}

/// A touch outside the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("touch (row {row}, col {col}) is outside a {SCREEN_SIDE_PX}x{SCREEN_SIDE_PX} screen")]
pub struct OutsideScreen {
    pub row: usize,
    pub col: usize,
}

impl Touch {
    /// A touch at a row and column, both in `0..224`.
    pub const fn new(row: usize, col: usize) -> Result<Self, OutsideScreen> {
        if row < SCREEN_SIDE_PX && col < SCREEN_SIDE_PX {
            Ok(Self { row: row as u8, col: col as u8 })
        } else {
            Err(OutsideScreen { row, col })
        }
    }

    /// A touch whose row and column are known to be on the screen.
    pub(crate) const fn at(row: u8, col: u8) -> Self {
        debug_assert!((row as usize) < SCREEN_SIDE_PX && (col as usize) < SCREEN_SIDE_PX);
        Self { row, col }
    }

    /// The touch after rotating the screen by 90 degrees clockwise: top becomes right.
    pub const fn turned_clockwise(self) -> Self {
        Self { row: self.col, col: SCREEN_SIDE_PX as u8 - 1 - self.row }
    }

    /// A touch drawn uniformly.
    pub fn uniform(random: &mut RandomStream) -> Self {
        let side = SCREEN_SIDE_PX as u32;
        Self { row: random.below(side) as u8, col: random.below(side) as u8 }
    }

    /// The touch with an index that is known to be in `0..N_TOUCHES`.
    pub(crate) const fn at_index(index: usize) -> Self {
        debug_assert!(index < N_TOUCHES);
        Self { row: (index / SCREEN_SIDE_PX) as u8, col: (index % SCREEN_SIDE_PX) as u8 }
    }

    /// The touch with an index into a row-major reward map, in `0..N_TOUCHES`.
    pub const fn from_index(index: usize) -> Result<Self, OutsideScreen> {
        Self::new(index / SCREEN_SIDE_PX, index % SCREEN_SIDE_PX)
    }

    /// The index in a row-major reward map, in `0..N_TOUCHES`.
    pub const fn index(self) -> usize {
        self.row as usize * SCREEN_SIDE_PX + self.col as usize
    }

    /// Pixels from the top.
    pub const fn row(self) -> usize {
        self.row as usize
    }

    /// Pixels from the left.
    pub const fn col(self) -> usize {
        self.col as usize
    }

    /// All touches, in the order of a row-major reward map.
    pub fn all() -> impl ExactSizeIterator<Item = Self> {
        (0..N_TOUCHES).map(Self::at_index)
    }
}

impl TryFrom<(usize, usize)> for Touch {
    type Error = OutsideScreen;
    fn try_from((row, col): (usize, usize)) -> Result<Self, OutsideScreen> {
        Self::new(row, col)
    }
}

impl From<Touch> for (usize, usize) {
    fn from(touch: Touch) -> Self {
        (touch.row(), touch.col())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn index_and_touch_are_inverse() {
        for (index, touch) in Touch::all().enumerate() {
            assert_eq!(touch.index(), index);
            assert_eq!(Touch::from_index(index), Ok(touch));
            assert_eq!(Touch::new(touch.row(), touch.col()), Ok(touch));
        }
    }

    #[test]
    fn touches_off_the_screen_are_refused() {
        for (row, col) in [(224, 0), (0, 224), (usize::MAX, 5)] {
            assert_eq!(Touch::new(row, col), Err(OutsideScreen { row, col }));
        }
        assert_eq!(Touch::from_index(N_TOUCHES), Err(OutsideScreen { row: 224, col: 0 }));
        let message = OutsideScreen { row: 224, col: 3 }.to_string();
        assert_eq!(message, "touch (row 224, col 3) is outside a 224x224 screen");
    }
}
