//! The grid of touches at which recorded maps are predicted.

use touchstream_env::touch::{SCREEN_SIDE_PX, Touch};

/// Rows and columns of a recorded map.
pub const MAP_SIDE: usize = 112;

/// Number of cells of a recorded map.
pub const MAP_LEN: usize = MAP_SIDE * MAP_SIDE;

/// The touch in the middle of a cell.
fn touch_of_cell(cell: usize) -> Touch {
    let pixel = |at: usize| (2 * at + 1) * SCREEN_SIDE_PX / (2 * MAP_SIDE);
    Touch::new(pixel(cell / MAP_SIDE), pixel(cell % MAP_SIDE)).expect("cells are on the screen")
}

/// The touches in the middle of all cells, row by row.
pub fn grid_touches() -> impl ExactSizeIterator<Item = Touch> {
    (0..MAP_LEN).map(touch_of_cell)
}

/// Predicted rewards (`[MAP_SIDE, MAP_SIDE]`), rounded to 255ths. Many cells may round to the same level. So that the
/// best cell can be found again, it alone keeps the highest level; others with this level are lowered by one.
pub fn levels_of(rewards: &[f32]) -> Vec<u8> {
    let best =
        (0..rewards.len()).reduce(|best, cell| if rewards[cell] > rewards[best] { cell } else { best });
    let mut levels: Vec<u8> = rewards.iter().map(|reward| (reward * 255.0).round() as u8).collect();
    if let Some(best) = best {
        let highest = levels[best].max(1);
        levels.iter_mut().for_each(|level| *level = (*level).min(highest - 1));
        levels[best] = highest;
    }
    levels
}

/// The touch with the highest predicted reward, from [rounded levels](levels_of).
pub fn best_touch(levels: &[u8]) -> Touch {
    let best = levels.iter().copied().max().unwrap_or(0);
    touch_of_cell(levels.iter().position(|&level| level == best).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two maxima that round to the same level, the second slightly higher.
    #[test]
    fn the_best_touch_is_found_again_behind_rounding() {
        for height in [0.4, 1e-6] {
            let mut rewards = vec![0.0; MAP_LEN];
            rewards[5 * MAP_SIDE..6 * MAP_SIDE].fill(height);
            rewards[9 * MAP_SIDE + 7] = height * 1.0001;
            let levels = levels_of(&rewards);
            assert_eq!(best_touch(&levels), Touch::new(19, 15).expect("on the screen"));
            assert_eq!(grid_touches().nth(9 * MAP_SIDE + 7), Some(best_touch(&levels)));
            let exact = |reward: f32| (reward * 255.0).round() as u8;
            let off_by = levels.iter().zip(&rewards).map(|(level, &reward)| level.abs_diff(exact(reward)));
            assert!(off_by.max() <= Some(1));
        }
    }
}
