//! Boxes of whole pixels and their overlap, the reward of localization.

use crate::touch::{SCREEN_SIDE_PX, Touch};
use serde::{Deserialize, Serialize};

/// A box of whole pixels, both corners included: rows `top..=bottom`, columns `left..=right`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PixelBox {
    top: u8,
    left: u8,
    bottom: u8,
    right: u8,
}

impl PixelBox {
    /// The whole screen.
    pub const SCREEN: Self =
        Self { top: 0, left: 0, bottom: SCREEN_SIDE_PX as u8 - 1, right: SCREEN_SIDE_PX as u8 - 1 };

    /// The box that has two touches as opposite corners.
    ///
    /// The touched pixels belong to the box, so touching an object's corner pixels earns exactly 1, and touching one
    /// pixel twice spans one pixel. Completes the paper, which does not define the box in pixels.
    pub fn spanned_by(a: Touch, b: Touch) -> Self {
        Self {
            top: a.row().min(b.row()) as u8,
            left: a.col().min(b.col()) as u8,
            bottom: a.row().max(b.row()) as u8,
            right: a.col().max(b.col()) as u8,
        }
    }

    /// The full-width box of the rows `first..=last`.
    pub const fn rows(first: u8, last: u8) -> Self {
        assert!(first <= last && (last as usize) < SCREEN_SIDE_PX);
        Self { top: first, left: 0, bottom: last, right: SCREEN_SIDE_PX as u8 - 1 }
    }

    /// The pixels that belong to both boxes, `None` if there are none.
    pub fn intersection(self, other: Self) -> Option<Self> {
        let both = Self {
            top: self.top.max(other.top),
            left: self.left.max(other.left),
            bottom: self.bottom.min(other.bottom),
            right: self.right.min(other.right),
        };
        (both.top <= both.bottom && both.left <= both.right).then_some(both)
    }

    /// The top left and the bottom right pixel.
    pub fn corners(self) -> [Touch; 2] {
        [Touch::at(self.top, self.left), Touch::at(self.bottom, self.right)]
    }

    /// First row of the box.
    pub fn top(self) -> usize {
        self.top as usize
    }

    /// First column of the box.
    pub fn left(self) -> usize {
        self.left as usize
    }

    /// Last row, included in the box.
    pub fn bottom(self) -> usize {
        self.bottom as usize
    }

    /// Last column, included in the box.
    pub fn right(self) -> usize {
        self.right as usize
    }

    pub fn height_px(self) -> usize {
        (self.bottom - self.top) as usize + 1
    }

    pub fn width_px(self) -> usize {
        (self.right - self.left) as usize + 1
    }

    pub fn area_px(self) -> usize {
        self.height_px() * self.width_px()
    }

    /// Whether a touch lands in the box.
    pub fn contains(self, touch: Touch) -> bool {
        (self.top()..=self.bottom()).contains(&touch.row())
            && (self.left()..=self.right()).contains(&touch.col())
    }

    /// Intersection over union of two boxes, in [0, 1].
    pub fn iou(self, other: Self) -> f32 {
        let n_rows = overlap(self.top, self.bottom, other.top, other.bottom);
        let n_cols = overlap(self.left, self.right, other.left, other.right);
        let intersection = n_rows * n_cols;
        let union = self.area_px() + other.area_px() - intersection;
        intersection as f32 / union as f32
    }
}

/// Number of integers that two inclusive ranges share.
fn overlap(a_first: u8, a_last: u8, b_first: u8, b_last: u8) -> usize {
    (usize::from(a_last.min(b_last)) + 1).saturating_sub(usize::from(a_first.max(b_first)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn touch() -> impl Strategy<Value = Touch> {
        (0..SCREEN_SIDE_PX, 0..SCREEN_SIDE_PX).prop_map(|(row, col)| Touch::new(row, col).unwrap())
    }

    proptest! {
        #[test]
        fn iou_counts_pixels(a in touch(), b in touch(), c in touch(), d in touch()) {
            let (one, two) = (PixelBox::spanned_by(a, b), PixelBox::spanned_by(c, d));
            let n_both = Touch::all().filter(|&t| one.contains(t) && two.contains(t)).count();
            let n_either = Touch::all().filter(|&t| one.contains(t) || two.contains(t)).count();
            prop_assert_eq!(one.iou(two), n_both as f32 / n_either as f32);
            prop_assert_eq!(one.iou(two), two.iou(one));
            prop_assert_eq!(one.iou(one), 1.0);
        }

        #[test]
        fn the_order_of_corners_does_not_matter(a in touch(), b in touch()) {
            prop_assert_eq!(PixelBox::spanned_by(a, b), PixelBox::spanned_by(b, a));
            let (c, d) = (Touch::new(a.row(), b.col()).unwrap(), Touch::new(b.row(), a.col()).unwrap());
            prop_assert_eq!(PixelBox::spanned_by(a, b), PixelBox::spanned_by(c, d));
        }
    }

    #[test]
    fn one_pixel_is_a_box() {
        let pixel = Touch::new(5, 9).unwrap();
        assert_eq!(PixelBox::spanned_by(pixel, pixel).area_px(), 1);
        assert_eq!(PixelBox::SCREEN.area_px(), 50_176);
    }
}
