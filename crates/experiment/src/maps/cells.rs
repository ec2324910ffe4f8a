//! Screens and maps as cells of a picture.

use crate::maps::grid::MAP_SIDE;
use crate::maps::snapshot::MapSnapshot;
use touchstream_env::pixel_box::PixelBox;
use touchstream_env::reward_map::RewardMap;
use touchstream_env::screen::Screen;
use touchstream_env::touch::{SCREEN_SIDE_PX, Touch};
use touchstream_report::canvas::{Canvas, LETTER_PX, Place};
use touchstream_report::colour_map::turbo;

/// Pixels between cells.
pub const GAP: usize = 6;
/// A line of letters with the gap under it.
pub const LINE: usize = LETTER_PX + 6;
/// From one cell to the next.
pub const STRIDE: usize = MAP_SIDE + GAP;
pub const PAPER: [u8; 3] = [250; 3];
pub const INK: [u8; 3] = [40; 3];

const PX_A_CELL: usize = SCREEN_SIDE_PX / MAP_SIDE;

/// What the steps of a trial are called where more than one is looked at.
pub const ORDINALS: [&str; 2] = ["1st", "2nd"];

/// The left edge of a column.
pub fn column_x(column: usize) -> usize {
    GAP + column * STRIDE
}

/// A screen, small.
pub fn screen_cell(screen: &Screen) -> Canvas {
    Canvas::of_screen(screen).shrunk(PX_A_CELL)
}

/// A true map, small.
pub fn truth_cell(truth: &RewardMap) -> Canvas {
    Canvas::of_map(truth).shrunk(PX_A_CELL)
}

/// Which reward has the last colour: the highest that any of some maps promises, so that rewards that are hard to come by
/// are seen too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColourScale {
    highest: u8,
}

impl ColourScale {
    pub fn of<'a>(snapshots: impl IntoIterator<Item = &'a MapSnapshot>) -> Self {
        let highest = snapshots.into_iter().flat_map(|snapshot| &snapshot.levels).copied().max();
        Self { highest: highest.unwrap_or(u8::MAX).max(1) }
    }

    /// What colours mean, for people.
    pub fn words(self) -> String {
        format!("expected: red is {:.2}", f32::from(self.highest) / 255.0)
    }
}

/// A kept map.
pub fn map_cell(levels: &[u8], scale: ColourScale) -> Canvas {
    let colour = |&level: &u8| turbo(f32::from(level) / f32::from(scale.highest));
    let rows = levels.chunks_exact(MAP_SIDE).map(|row| row.iter().flat_map(colour).collect());
    let rows: Vec<Vec<u8>> = rows.collect();
    Canvas::of_rows(rows.iter().map(Vec::as_slice))
}

fn place_of(touch: Touch) -> Place {
    Place { x: touch.col() / PX_A_CELL, y: touch.row() / PX_A_CELL }
}

/// A cell with a ring around a touch.
pub fn ringed(mut cell: Canvas, touch: Touch) -> Canvas {
    cell.ring(place_of(touch), 3);
    cell
}

/// A cell with the box that two touches span.
pub fn boxed(mut cell: Canvas, [one, other]: [Touch; 2]) -> Canvas {
    let [first, last] = PixelBox::spanned_by(one, other).corners();
    cell.frame(place_of(first), place_of(last));
    cell
}
