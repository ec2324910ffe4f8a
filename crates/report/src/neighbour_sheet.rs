//! A sheet of images, each with the images whose features are nearest, to judge an encoder by eye.

use crate::canvas::{Canvas, Place};
use crate::lettering::{LINE_PX, Weight, text_width};
use touchstream_env::screen::Screen;
use touchstream_env::touch::SCREEN_SIDE_PX;

/// A query and its nearest images, nearest first.
pub struct NeighbourRow {
    pub query: Screen,
    /// The class of the query.
    pub class: String,
    pub found: Vec<FoundImage>,
}

/// One of the nearest images of a query.
pub struct FoundImage {
    pub screen: Screen,
    pub class: String,
    /// Cosine similarity to the query, -1..=1.
    pub cosine: f32,
    /// Whether it has the query's class.
    pub is_same_class: bool,
}

const PAPER: [u8; 3] = [250; 3];
const INK: [u8; 3] = [20; 3];
const FAINT_INK: [u8; 3] = [110; 3];
/// Blue and orange, which colour-blind readers can distinguish.
const SAME: [u8; 3] = [0, 114, 178];
const OTHER: [u8; 3] = [230, 159, 0];
const DIVISOR: usize = 2;
const PICTURE_PX: usize = SCREEN_SIDE_PX / DIVISOR;
const FRAME_PX: usize = 4;
const CELL_PX: usize = PICTURE_PX + 2 * FRAME_PX;
const GAP_PX: usize = 6;
/// Space between a query and its neighbours.
const QUERY_GAP_PX: usize = 18;
const MARGIN_PX: usize = 14;

/// A sheet with a headline, lines of text, and the rows in `n_columns` columns. Images of the query's class have a blue
/// frame, others an orange one.
pub fn neighbour_sheet(headline: &str, lines: &[String], rows: &[NeighbourRow], n_columns: usize) -> Canvas {
    let n_columns = n_columns.clamp(1, rows.len().max(1));
    let n_found = rows.iter().map(|row| row.found.len()).max().unwrap_or(0);
    let row_width = CELL_PX + QUERY_GAP_PX + n_found * (CELL_PX + GAP_PX);
    let row_height = CELL_PX + 2 * LINE_PX + GAP_PX;
    let header_px = MARGIN_PX + (lines.len() + 1) * LINE_PX + GAP_PX;
    let line_widths = lines.iter().map(|line| text_width(line, Weight::Regular));
    let text_px = line_widths.fold(text_width(headline, Weight::Bold), usize::max);
    let width = (n_columns * (row_width + MARGIN_PX)).max(text_px + MARGIN_PX) + MARGIN_PX;
    let height = header_px + rows.len().div_ceil(n_columns) * row_height + MARGIN_PX;
    let mut sheet = Canvas::new(width, height, PAPER);
    sheet.write_bold(headline, Place { x: MARGIN_PX, y: MARGIN_PX }, INK);
    for (idx, line) in lines.iter().enumerate() {
        sheet.write(line, Place { x: MARGIN_PX, y: MARGIN_PX + (idx + 1) * LINE_PX }, FAINT_INK);
    }
    for (idx, row) in rows.iter().enumerate() {
        let x = MARGIN_PX + idx % n_columns * (row_width + MARGIN_PX);
        let y = header_px + idx / n_columns * row_height;
        draw_row(&mut sheet, row, Place { x, y });
    }
    sheet
}

fn draw_row(sheet: &mut Canvas, row: &NeighbourRow, place: Place) {
    draw_cell(sheet, &row.query, PAPER, [&row.class, "query"], place);
    for (idx, found) in row.found.iter().enumerate() {
        let x = place.x + CELL_PX + QUERY_GAP_PX + idx * (CELL_PX + GAP_PX);
        let (frame, word) = if found.is_same_class { (SAME, "same") } else { (OTHER, "other") };
        let facts = format!("{:.2} {word}", found.cosine);
        draw_cell(sheet, &found.screen, frame, [&found.class, &facts], Place { x, ..place });
    }
}

fn draw_cell(sheet: &mut Canvas, screen: &Screen, frame: [u8; 3], lines: [&str; 2], place: Place) {
    sheet.paste(&Canvas::new(CELL_PX, CELL_PX, frame), place);
    let inside = Place { x: place.x + FRAME_PX, y: place.y + FRAME_PX };
    sheet.paste(&Canvas::of_screen(screen).shrunk(DIVISOR), inside);
    for (idx, (line, colour)) in lines.into_iter().zip([INK, FAINT_INK]).enumerate() {
        let mut fitting = line.to_owned();
        while text_width(&fitting, Weight::Regular) > CELL_PX {
            fitting.pop();
        }
        sheet.write(&fitting, Place { x: place.x, y: place.y + CELL_PX + 3 + idx * LINE_PX }, colour);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(is_same_class: bool) -> NeighbourRow {
        let found = FoundImage { screen: Screen::grey(), class: "boat".into(), cosine: 0.5, is_same_class };
        NeighbourRow { query: Screen::grey(), class: "boat".into(), found: vec![found] }
    }

    /// Pixels of a colour on the sheet.
    fn n_pixels(sheet: &Canvas, colour: [u8; 3]) -> usize {
        sheet.pixels().chunks_exact(3).filter(|pixel| **pixel == colour).count()
    }

    #[test]
    fn frames_say_whether_the_class_is_the_same() {
        let frame_px = CELL_PX * CELL_PX - PICTURE_PX * PICTURE_PX;
        for (is_same, n_same, n_other) in [(true, frame_px, 0), (false, 0, frame_px)] {
            let sheet = neighbour_sheet("title", &[], &[row(is_same)], 1);
            assert_eq!((n_pixels(&sheet, SAME), n_pixels(&sheet, OTHER)), (n_same, n_other));
            // Query and found image; pixels of letters may have the same grey.
            assert!(n_pixels(&sheet, [128; 3]) >= 2 * PICTURE_PX * PICTURE_PX);
        }
    }

    #[test]
    fn a_sheet_grows_with_its_rows_and_may_be_empty() {
        let height = |n: usize| {
            let rows: Vec<NeighbourRow> = (0..n).map(|_| row(true)).collect();
            neighbour_sheet("title", &["a line".into()], &rows, 2).height()
        };
        assert_eq!(height(1), height(2));
        assert!(height(0) < height(2) && height(2) < height(3));
    }
}
