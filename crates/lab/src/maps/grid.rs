//! The grid of touches that kept maps are predicted on.

use touchstream_env::touch::{SCREEN_SIDE_PX, Touch};

/// Rows and columns of a kept map.
pub const MAP_SIDE: usize = 112;

/// Numbers of a kept map.
pub const MAP_LEN: usize = MAP_SIDE * MAP_SIDE;

/// The middle of a cell, counted in reading order.
fn touch_of_cell(cell: usize) -> Touch {
    let pixel = |at: usize| (2 * at + 1) * SCREEN_SIDE_PX / (2 * MAP_SIDE);
    Touch::new(pixel(cell / MAP_SIDE), pixel(cell % MAP_SIDE)).expect("cells are on the screen")
}

/// The middles of all cells, in reading order.
pub fn grid_touches() -> impl ExactSizeIterator<Item = Touch> {
    (0..MAP_LEN).map(touch_of_cell)
}

/// The touch that a map (`[MAP_SIDE, MAP_SIDE]`, in 255ths) promises most of, the first in reading order.
pub fn best_touch(levels: &[u8]) -> Touch {
    let best = levels.iter().copied().max().unwrap_or(0);
    touch_of_cell(levels.iter().position(|&level| level == best).unwrap_or(0))
}

#[test]
fn the_best_touch_is_the_middle_of_the_best_cell() {
    let mut levels = vec![3; MAP_LEN];
    levels[5 * MAP_SIDE + 7] = 200;
    levels[9 * MAP_SIDE] = 200;
    assert_eq!(best_touch(&levels), Touch::new(11, 15).expect("on the screen"));
    assert_eq!(grid_touches().nth(5 * MAP_SIDE + 7), Some(best_touch(&levels)));
}
