//! The best second touch of localization, in closed form.

use crate::pixel_box::PixelBox;
use crate::touch::Touch;

/// Computes the best second touch after a given first one.
///
/// Nine candidates suffice: with the columns fixed, the overlap as a function of the second row rises until that row
/// reaches the object's far edge and falls beyond it, on either side of the first row. So the best row is the
/// object's top, its bottom or the first touch's row, or the allowed row closest to one of them; likewise for columns.
#[derive(Clone, Copy, Debug)]
pub struct BestSecondTouch {
    /// The object's box.
    pub bounds: PixelBox,
    /// The part of the screen where the second touch can be rewarded.
    pub allowed: PixelBox,
}

impl BestSecondTouch {
    /// The best second touch after `first`, and its IoU.
    pub fn after(self, first: Touch) -> (Touch, f32) {
        let Self { bounds, allowed } = self;
        let rows = [bounds.top(), bounds.bottom(), first.row()]
            .map(|row| row.clamp(allowed.top(), allowed.bottom()) as u8);
        let cols = [bounds.left(), bounds.right(), first.col()]
            .map(|col| col.clamp(allowed.left(), allowed.right()) as u8);
        let mut best = (allowed.corners()[0], -1.0);
        for row in rows {
            for col in cols {
                let second = Touch::at(row, col);
                let iou = PixelBox::spanned_by(first, second).iou(bounds);
                if iou > best.1 {
                    best = (second, iou);
                }
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn touch() -> impl Strategy<Value = Touch> {
        (0_usize..224, 0_usize..224).prop_map(|(row, col)| Touch::new(row, col).unwrap())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(150))]
        #[test]
        fn no_second_touch_is_better(
            a in touch(), b in touch(), c in touch(), d in touch(), first in touch(), whole_screen in any::<bool>()
        ) {
            let bounds = PixelBox::spanned_by(a, b);
            let allowed = if whole_screen { PixelBox::SCREEN } else { PixelBox::spanned_by(c, d) };
            let (second, iou) = BestSecondTouch { bounds, allowed }.after(first);
            prop_assert!(allowed.contains(second));
            let by_trying = Touch::all()
                .filter(|&t| allowed.contains(t))
                .map(|t| PixelBox::spanned_by(first, t).iou(bounds))
                .fold(0.0, f32::max);
            prop_assert_eq!(iou, by_trying);
        }
    }
}
