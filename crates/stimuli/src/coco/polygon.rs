//! Rasterizes polygons with the same pixels as COCO's own tools (`rleFrPoly` of pycocotools).

use super::rle::{Rle, RleError, n_pixels};

/// Boundaries are traced on a grid that is five times finer than the image.
const UPSAMPLING: f64 = 5.0;
/// Maximum absolute value of a coordinate, in pixels.
const MAX_COORDINATE: f64 = 100_000.0;
/// Maximum number of points on the boundary of one object, on the fine grid.
const MAX_BOUNDARY_POINTS: u64 = 4_000_000;

/// Why corners do not make a mask.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PolygonError {
    #[error("there are no polygons")]
    NoPolygons,
    #[error("a polygon of {n_numbers} numbers, not an even number of at least 6")]
    Corners { n_numbers: usize },
    #[error("coordinate {coordinate} is not a number or far outside the image")]
    Coordinate { coordinate: f64 },
    /// Tracing the boundary would take too long.
    #[error("the boundary has more than {MAX_BOUNDARY_POINTS} points")]
    TooLong,
    #[error(transparent)]
    Rle(#[from] RleError),
}

/// The mask of an object with one or several polygons, each given as `x, y` of its corners.
pub fn rasterize(height: u32, width: u32, polygons: &[Vec<f64>]) -> Result<Rle, PolygonError> {
    n_pixels(height, width)?;
    let mut n_points_left = MAX_BOUNDARY_POINTS;
    let mut mask: Option<Rle> = None;
    for polygon in polygons {
        let part = rasterize_one(height, width, polygon, &mut n_points_left)?;
        mask = Some(match mask {
            Some(mask) => mask.union(&part)?,
            None => part,
        });
    }
    mask.ok_or(PolygonError::NoPolygons)
}

fn rasterize_one(
    height: u32,
    width: u32,
    corners: &[f64],
    n_points_left: &mut u64,
) -> Result<Rle, PolygonError> {
    let boundary = fine_boundary(corners, n_points_left)?;
    let mut crossings: Vec<u32> =
        boundary.windows(2).filter_map(|pair| crossing(height, width, pair[0], pair[1])).collect();
    crossings.push(height * width);
    crossings.sort_unstable();

    // Differences of consecutive crossings are run lengths; two crossings at the same position cancel out.
    let mut lengths =
        crossings.iter().scan(0, |before, &crossing| Some(crossing - std::mem::replace(before, crossing)));
    let mut counts = Vec::new();
    counts.extend(lengths.next());
    while let Some(length) = lengths.next() {
        match (length, counts.last_mut()) {
            (0, Some(last)) => *last += lengths.next().unwrap_or(0),
            _ => counts.push(length),
        }
    }
    Ok(Rle::from_checked_counts(height, width, counts))
}

/// All points of the boundary on the fine grid.
fn fine_boundary(corners: &[f64], n_points_left: &mut u64) -> Result<Vec<(i32, i32)>, PolygonError> {
    if corners.len() < 6 || corners.len() % 2 == 1 {
        return Err(PolygonError::Corners { n_numbers: corners.len() });
    }
    if let Some(&coordinate) = corners.iter().find(|xy| xy.is_nan() || xy.abs() > MAX_COORDINATE) {
        return Err(PolygonError::Coordinate { coordinate });
    }
    let fine = |coordinate: f64| (UPSAMPLING * coordinate + 0.5) as i32;
    let corners: Vec<(i32, i32)> = corners.chunks_exact(2).map(|xy| (fine(xy[0]), fine(xy[1]))).collect();
    let mut points = Vec::new();
    for (idx, &from) in corners.iter().enumerate() {
        let to = corners[(idx + 1) % corners.len()];
        let n_points = u64::from(from.0.abs_diff(to.0).max(from.1.abs_diff(to.1))) + 1;
        *n_points_left = n_points_left.checked_sub(n_points).ok_or(PolygonError::TooLong)?;
        push_edge(from, to, &mut points);
    }
    Ok(points)
}

/// The points of an edge, both corners included, as in Bresenham's algorithm.
fn push_edge((x_from, y_from): (i32, i32), (x_to, y_to): (i32, i32), points: &mut Vec<(i32, i32)>) {
    let (dx, dy) = ((x_to - x_from).abs(), (y_to - y_from).abs());
    let is_flat = dx >= dy;
    let is_flipped = if is_flat { x_from > x_to } else { y_from > y_to };
    let ((x_start, y_start), (x_end, y_end)) = match is_flipped {
        true => ((x_to, y_to), (x_from, y_from)),
        false => ((x_from, y_from), (x_to, y_to)),
    };
    let n_steps = dx.max(dy);
    // 0/0 for an edge of length 0; its only point has the same column as its neighbours, so it crosses nothing.
    let slope = f64::from(if is_flat { y_end - y_start } else { x_end - x_start }) / f64::from(n_steps);
    for step in 0..=n_steps {
        let along = if is_flipped { n_steps - step } else { step };
        let across = |start: i32| (f64::from(start) + slope * f64::from(along) + 0.5) as i32;
        points.push(match is_flat {
            true => (along + x_start, across(y_start)),
            false => (across(x_start), along + y_start),
        });
    }
}

/// Where a step of the boundary crosses the centre of an image column, as `column * height + row`.
fn crossing(height: u32, width: u32, before: (i32, i32), after: (i32, i32)) -> Option<u32> {
    if before.0 == after.0 {
        return None;
    }
    let coarse = |fine: i32| (f64::from(fine) + 0.5) / UPSAMPLING - 0.5;
    let x = coarse(if after.0 < before.0 { after.0 } else { after.0 - 1 });
    if x.floor() != x || x < 0.0 || x > f64::from(width - 1) {
        return None;
    }
    let y = coarse(after.1.min(before.1)).clamp(0.0, f64::from(height)).ceil();
    Some(x as u32 * height + y as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_corners_are_a_mask_or_refused(
            height in 1_u32..100, width in 1_u32..100,
            polygons in prop::collection::vec(prop::collection::vec(-300.0..300.0, 0..20), 0..4),
        ) {
            if let Ok(mask) = rasterize(height, width, &polygons) {
                prop_assert!(mask.area_px() <= u64::from(height * width));
                prop_assert_eq!(mask.size(), (height, width));
            }
        }
    }

    #[test]
    fn invalid_polygons_are_rejected() {
        let far = vec![0.0, 0.0, 90_000.0, 0.0, 0.0, 90_000.0];
        let cases = [
            (vec![], "there are no polygons"),
            (vec![vec![1.0, 2.0, 3.0, 4.0]], "a polygon of 4 numbers, not an even number of at least 6"),
            (vec![vec![1.0; 7]], "a polygon of 7 numbers, not an even number of at least 6"),
            (vec![vec![0.0, 0.0, 1e300, 0.0, 1.0, 1.0]], "coordinate 1000"),
            (
                vec![vec![0.0, 0.0, f64::NAN, 0.0, 1.0, 1.0]],
                "coordinate NaN is not a number or far outside the image",
            ),
            (vec![far; 4], "the boundary has more than 4000000 points"),
        ];
        for (polygons, message) in cases {
            let error = rasterize(30, 40, &polygons).unwrap_err().to_string();
            assert!(error.starts_with(message), "{error}");
        }
    }
}
