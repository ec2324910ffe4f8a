//! Boxes that are the same on every screen.

use crate::baselines::box_numbers::{box_from_numbers, numbers_from_box};
use crate::baselines::score::mean_iou;
use touchstream_env::pixel_box::PixelBox;
use touchstream_env::touch::SCREEN_SIDE_PX;

/// The box whose corners are the mean corners.
pub fn mean_box(boxes: &[PixelBox]) -> PixelBox {
    let mut sums = [0.0; 4];
    for bounds in boxes {
        sums.iter_mut().zip(numbers_from_box(*bounds)).for_each(|(sum, number)| *sum += number);
    }
    box_from_numbers(sums.map(|sum| sum / boxes.len() as f64))
}

/// Step of the coarse grid in pixels.
const COARSE_PX: usize = 16;

/// The box with the largest mean IoU: the best of a coarse grid, whose edges are then moved while the mean increases.
pub fn best_fixed_box(boxes: &[PixelBox]) -> PixelBox {
    let overlap = |numbers: [usize; 4]| mean_iou(std::iter::repeat_n(box_of(numbers), boxes.len()), boxes);
    let mut best = ([0, 0, SCREEN_SIDE_PX - 1, SCREEN_SIDE_PX - 1], 0.0);
    for top in (0..SCREEN_SIDE_PX).step_by(COARSE_PX) {
        for left in (0..SCREEN_SIDE_PX).step_by(COARSE_PX) {
            for bottom in (top + COARSE_PX - 1..SCREEN_SIDE_PX).step_by(COARSE_PX) {
                for right in (left + COARSE_PX - 1..SCREEN_SIDE_PX).step_by(COARSE_PX) {
                    let numbers = [top, left, bottom, right];
                    let overlap = overlap(numbers);
                    if overlap > best.1 {
                        best = (numbers, overlap);
                    }
                }
            }
        }
    }
    let mut step = COARSE_PX / 2;
    while step > 0 {
        let (numbers, before) = best;
        for edge in 0..4 {
            for moved in [numbers[edge].checked_sub(step), Some(numbers[edge] + step)].into_iter().flatten() {
                let mut other = numbers;
                other[edge] = moved.min(SCREEN_SIDE_PX - 1);
                let overlap = overlap(other);
                if overlap > best.1 {
                    best = (other, overlap);
                }
            }
        }
        if best.1 <= before {
            step /= 2;
        }
    }
    box_of(best.0)
}

fn box_of(numbers: [usize; 4]) -> PixelBox {
    box_from_numbers(numbers.map(|pixel| pixel as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_box_has_mean_corners() {
        assert_eq!(mean_box(&[box_of([10, 20, 30, 40]), box_of([20, 40, 50, 60])]), box_of([15, 30, 40, 50]));
    }

    #[test]
    fn the_best_box_of_one_box_is_that_box() {
        for numbers in [[3, 5, 99, 201], [100, 100, 131, 140], [0, 0, 223, 223], [220, 1, 223, 2]] {
            assert_eq!(best_fixed_box(&[box_of(numbers)]), box_of(numbers));
        }
    }

    #[test]
    fn the_best_box_is_no_worse_than_any_of_the_boxes_or_their_mean() {
        let boxes = [[0, 0, 60, 60], [0, 0, 70, 50], [10, 10, 80, 90], [150, 150, 220, 220]].map(box_of);
        let overlap = |guess: PixelBox| mean_iou(std::iter::repeat_n(guess, boxes.len()), &boxes);
        let best = overlap(best_fixed_box(&boxes));
        for other in boxes.into_iter().chain([mean_box(&boxes)]) {
            assert!(best >= overlap(other), "{best} is below {other:?}");
        }
    }
}
