//! Rectangles and polygons on the pixel grid: rewarded regions and parts of templates.

use crate::mask::Mask;
use crate::touch::SCREEN_SIDE_PX;
use serde::{Deserialize, Serialize};

/// The outline of a region, in pixels from the top left.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    /// Rows `top..top + height` and columns `left..left + width`.
    Rect(Rect),
    /// Corners as `[row, col]` in pixel units, where the screen spans `[0, 0]` to `[224, 224]`. A pixel is inside if
    /// its centre is (even-odd rule).
    Polygon(Vec<[f32; 2]>),
}

/// A rectangle of whole pixels, such as `{ top = 0, left = 0, height = 112, width = 224 }`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rect {
    pub top: u32,
    pub left: u32,
    pub height: u32,
    pub width: u32,
}

impl Shape {
    /// Whether the pixel at a row and column belongs to the region.
    pub fn contains_pixel(&self, row: usize, col: usize) -> bool {
        match self {
            Self::Rect(rect) => {
                let (row, col) = (row as u64, col as u64);
                let rows = u64::from(rect.top)..u64::from(rect.top) + u64::from(rect.height);
                let cols = u64::from(rect.left)..u64::from(rect.left) + u64::from(rect.width);
                rows.contains(&row) && cols.contains(&col)
            }
            Self::Polygon(corners) => polygon_contains(corners, row as f32 + 0.5, col as f32 + 0.5),
        }
    }

    /// The pixels of the region that are on the screen.
    pub fn mask(&self) -> Mask {
        Mask::from_fn(|row, col| self.contains_pixel(row, col))
    }

    /// Whether any part of the outline is outside the square of `side_px` at the origin.
    pub fn leaves_square(&self, side_px: usize) -> bool {
        match self {
            Self::Rect(rect) => {
                let side_px = side_px as u64;
                u64::from(rect.top) + u64::from(rect.height) > side_px
                    || u64::from(rect.left) + u64::from(rect.width) > side_px
            }
            Self::Polygon(corners) => {
                corners.iter().flatten().any(|&edge| !(0.0..=side_px as f32).contains(&edge))
            }
        }
    }

    pub(crate) const fn block(top: u32, left: u32, height: u32, width: u32) -> Self {
        Self::Rect(Rect { top, left, height, width })
    }
}

/// Even-odd rule: counts the edges that a ray to the right, along the row, crosses.
fn polygon_contains(corners: &[[f32; 2]], row: f32, col: f32) -> bool {
    let mut inside = false;
    let mut previous = match corners.last() {
        Some(&corner) => corner,
        None => return false,
    };
    for &corner in corners {
        let ([row_a, col_a], [row_b, col_b]) = (previous, corner);
        if (row_a > row) != (row_b > row) && col < (col_b - col_a) * (row - row_a) / (row_b - row_a) + col_a {
            inside = !inside;
        }
        previous = corner;
    }
    inside
}

pub(crate) const HALF_PX: u32 = SCREEN_SIDE_PX as u32 / 2;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_rectangle_and_its_polygon_are_the_same_pixels(
            top in 0_u32..224, left in 0_u32..224, height in 1_u32..224, width in 1_u32..224
        ) {
            let (bottom, right) = ((top + height) as f32, (left + width) as f32);
            let corners = vec![
                [top as f32, left as f32], [top as f32, right], [bottom, right], [bottom, left as f32],
            ];
            prop_assert_eq!(Shape::block(top, left, height, width).mask(), Shape::Polygon(corners).mask());
        }
    }

    #[test]
    fn triangles_cover_half_their_box() {
        let mask = Shape::Polygon(vec![[0.0, 0.0], [200.0, 0.0], [200.0, 200.0]]).mask();
        assert!(mask.area_px().abs_diff(20_000) <= 100, "{}", mask.area_px());
    }

    #[test]
    fn degenerate_outlines_are_empty() {
        for corners in [vec![], vec![[3.0, 3.0]], vec![[0.0, 0.0], [9.0, 9.0]], vec![[f32::NAN; 2]; 3]] {
            assert_eq!(Shape::Polygon(corners).mask().area_px(), 0);
        }
        assert_eq!(Shape::block(5, 5, 0, 9).mask().area_px(), 0);
        assert_eq!(Shape::block(u32::MAX, 0, u32::MAX, 9).mask().area_px(), 0);
    }

    #[test]
    fn outlines_beyond_a_square_are_detected() {
        assert!(!Shape::block(0, 0, 224, 112).leaves_square(224));
        assert!(Shape::block(1, 0, 224, 112).leaves_square(224));
        assert!(Shape::Polygon(vec![[0.0, 0.0], [0.0, 224.5], [9.0, 9.0]]).leaves_square(224));
        assert!(Shape::Polygon(vec![[0.0, f32::NAN]]).leaves_square(224));
    }
}
