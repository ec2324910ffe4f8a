//! Boxes as the four numbers that regression predicts.

use touchstream_env::pixel_box::PixelBox;
use touchstream_env::touch::{SCREEN_SIDE_PX, Touch};

/// Top, left, bottom and right pixel, all inside the box.
pub type BoxNumbers = [f64; 4];

/// The numbers of a box.
pub fn numbers_from_box(bounds: PixelBox) -> BoxNumbers {
    [bounds.top(), bounds.left(), bounds.bottom(), bounds.right()].map(|pixel| pixel as f64)
}

/// The box between the touches nearest to two corners, which may be in any order. NaN becomes 0.
pub fn box_from_numbers(numbers: BoxNumbers) -> PixelBox {
    let [top, left, bottom, right] =
        numbers.map(|number| number.round().clamp(0.0, (SCREEN_SIDE_PX - 1) as f64) as usize);
    let corner = |row, col| Touch::new(row, col).expect("clamped to the screen");
    PixelBox::spanned_by(corner(top, left), corner(bottom, right))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_box_survives_its_numbers(rows in (0_usize..224, 0_usize..224), cols in (0_usize..224, 0_usize..224)) {
            let corner = |row, col| Touch::new(row, col).unwrap();
            let bounds = PixelBox::spanned_by(corner(rows.0, cols.0), corner(rows.1, cols.1));
            prop_assert_eq!(box_from_numbers(numbers_from_box(bounds)), bounds);
        }

        #[test]
        fn whatever_is_predicted_becomes_a_box(numbers in prop::array::uniform4(prop::num::f64::ANY)) {
            prop_assert!(box_from_numbers(numbers).area_px() >= 1);
        }
    }

    #[test]
    fn corners_in_the_wrong_order_span_the_same_box() {
        assert_eq!(box_from_numbers([90.4, 7.0, 20.6, 50.0]), box_from_numbers([21.0, 7.0, 90.0, 50.0]));
        assert_eq!(box_from_numbers([-3.0, -1e9, 999.0, 1e9]), PixelBox::SCREEN);
    }
}
