//! Cells of the images of reward maps: screens, maps, rings, and the colour bar.

use crate::maps::grid::MAP_SIDE;
use crate::maps::snapshot::MapSnapshot;
use touchstream_env::pixel_box::PixelBox;
use touchstream_env::reward_map::RewardMap;
use touchstream_env::screen::Screen;
use touchstream_env::touch::{SCREEN_SIDE_PX, Touch};
use touchstream_report::canvas::{Canvas, Place};
use touchstream_report::colour_map::colour_of_level;
use touchstream_report::lettering::{LINE_PX, Weight, text_width};

/// Pixels between cells.
pub const GAP: usize = 6;
/// Height of a line of text with the gap below it.
pub const LINE: usize = LINE_PX + 1;
/// Distance between the left edges of neighbouring cells.
pub const STRIDE: usize = MAP_SIDE + GAP;
pub const PAPER: [u8; 3] = [255; 3];
pub const INK: [u8; 3] = [30; 3];

const PX_PER_CELL: usize = SCREEN_SIDE_PX / MAP_SIDE;

/// Left edge of a column.
pub fn column_x(column: usize) -> usize {
    GAP + column * STRIDE
}

/// Titles of the columns of screens: the last one is the screen that is touched.
pub fn screen_titles(n_screens: usize) -> impl Iterator<Item = &'static str> {
    (1..=n_screens).map(move |number| if number == n_screens { "screen" } else { "sample" })
}

pub fn screen_cell(screen: &Screen) -> Canvas {
    Canvas::of_screen(screen).shrunk(PX_PER_CELL)
}

pub fn truth_cell(truth: &RewardMap) -> Canvas {
    Canvas::of_map(truth).shrunk(PX_PER_CELL)
}

/// The predicted reward that has the brightest colour, in 255ths: 1, or the highest predicted reward if it is at most
/// 0.5.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColourScale {
    top: u8,
}

impl ColourScale {
    pub fn of<'a>(snapshots: impl IntoIterator<Item = &'a MapSnapshot>) -> Self {
        let highest = snapshots.into_iter().flat_map(|snapshot| &snapshot.levels).copied().max();
        match highest.unwrap_or(u8::MAX).max(1) {
            128.. => Self { top: u8::MAX },
            top => Self { top },
        }
    }

    /// Draws the colour bar.
    pub fn draw(self, canvas: &mut Canvas, place: Place) {
        let (before, top, after) = match self.top {
            u8::MAX => ("reward ", "1".to_owned(), ""),
            top => {
                ("predicted reward ", format!("{:.2}", f32::from(top) / 255.0), "   (true reward: 0 to 1)")
            }
        };
        canvas.write(before, place, INK);
        let bar = Place { x: place.x + text_width(before, Weight::Regular), ..place };
        let bar_px = canvas.colour_bar(bar, &top, INK);
        canvas.write(after, Place { x: bar.x + bar_px, ..place }, INK);
    }
}

/// A predicted map.
pub fn map_cell(levels: &[u8], scale: ColourScale) -> Canvas {
    let colours: [[u8; 3]; 256] =
        std::array::from_fn(|level| colour_of_level((level * 255 / usize::from(scale.top)).min(255) as u8));
    let pixels: Vec<u8> = levels.iter().flat_map(|&level| colours[usize::from(level)]).collect();
    Canvas::of_rows(pixels.chunks_exact(3 * MAP_SIDE))
}

fn place_of(touch: Touch) -> Place {
    Place { x: touch.col() / PX_PER_CELL, y: touch.row() / PX_PER_CELL }
}

/// Draws a cell with a ring around a touch; at an edge, the ring reaches beyond the cell.
pub fn paste_ringed(canvas: &mut Canvas, cell: &Canvas, place: Place, touch: Touch) {
    canvas.paste(cell, place);
    let Place { x, y } = place_of(touch);
    canvas.ring(Place { x: place.x + x, y: place.y + y }, 3);
}

/// A cell with the box between two touches.
pub fn boxed(mut cell: Canvas, [one, other]: [Touch; 2]) -> Canvas {
    let [first, last] = PixelBox::spanned_by(one, other).corners();
    cell.frame(place_of(first), place_of(last));
    cell
}
