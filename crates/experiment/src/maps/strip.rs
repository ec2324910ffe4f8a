//! The paper's figure 3: screens, predicted maps over the course of learning, and the true maps.

use crate::maps::cells::{
    ColourScale, GAP, INK, LINE, ORDINALS, PAPER, STRIDE, boxed, column_x, map_cell, ringed, screen_cell,
    truth_cell,
};
use crate::maps::example::Example;
use crate::maps::snapshot::{ExampleMaps, MapSnapshot, strip_snapshots};
use touchstream_report::canvas::{Canvas, LETTER_PX, Place};

/// One row an example: its screens, a map a snapshot, the truth. Where two touches are looked at, three rows: the first
/// touch, the second after the best first one (ringed), and what is true of that second one.
pub fn map_strip(examples: &[Example], snapshots: &[MapSnapshot]) -> Canvas {
    let shown = strip_snapshots(snapshots);
    let scale = ColourScale::of(shown.iter().copied());
    let maps: Vec<Vec<ExampleMaps<'_>>> =
        shown.iter().map(|snapshot| snapshot.of_examples(examples)).collect();
    let n_screens = examples.iter().map(|example| example.screens.len()).max().unwrap_or(0);
    let has_captions = examples.iter().any(|example| example.n_maps() > 1);
    let n_map_columns = shown.len().max(if has_captions { caption_columns() } else { 0 });
    let layout = Layout { n_screens, n_columns: n_screens + n_map_columns + 1 };
    let n_columns = layout.n_columns;
    let blocks = examples.iter().enumerate().map(|(idx, example)| {
        let moments: Vec<&ExampleMaps<'_>> = maps.iter().map(|maps| &maps[idx]).collect();
        match example.n_maps() {
            1 => one_touch_block(example, &moments, scale, layout),
            _ => two_touch_block(example, &moments, scale, layout),
        }
    });
    let blocks: Vec<Canvas> = blocks.collect();
    let head = GAP + 2 * LINE;
    let height = head + blocks.iter().map(|block| block.height() + GAP).sum::<usize>();
    let mut canvas = Canvas::new(n_columns * STRIDE + GAP, height, PAPER);
    let mut title = |column: usize, words: &str| {
        canvas.write(words, Place { x: column_x(column), y: GAP + LINE }, INK);
    };
    for column in 0..n_screens {
        title(column, if column + 1 == n_screens { "screen" } else { "before" });
    }
    for (idx, snapshot) in shown.iter().enumerate() {
        title(n_screens + idx, &format!("{} steps", snapshot.step));
    }
    title(n_columns - 1, "true");
    canvas.write(&scale.words(), Place { x: column_x(n_screens), y: GAP }, INK);
    let mut y = head;
    for block in &blocks {
        canvas.paste(block, Place { x: 0, y });
        y += block.height() + GAP;
    }
    canvas
}

/// Columns of screens, and of everything.
#[derive(Clone, Copy)]
struct Layout {
    n_screens: usize,
    n_columns: usize,
}

/// The lines over the rows of two touches.
fn captions() -> [String; 3] {
    [
        format!("{} touch: its best is ringed", ORDINALS[0]),
        format!("{} touch, after the ringed one", ORDINALS[1]),
        format!("{} touch, after the ringed one: true", ORDINALS[1]),
    ]
}

/// Columns that the longest of them needs.
fn caption_columns() -> usize {
    let n_letters = captions().iter().map(String::len).max().unwrap_or(0);
    (n_letters * LETTER_PX).div_ceil(STRIDE)
}

fn block_of(n_rows: usize, row_px: usize, n_columns: usize) -> Canvas {
    Canvas::new(n_columns * STRIDE + GAP, n_rows * row_px - GAP, PAPER)
}

fn paste_screens(block: &mut Canvas, example: &Example, n_screens: usize, y: usize) {
    for (idx, screen) in example.screens.iter().rev().enumerate() {
        block.paste(&screen_cell(screen), Place { x: column_x(n_screens - 1 - idx), y });
    }
}

fn one_touch_block(
    example: &Example,
    moments: &[&ExampleMaps<'_>],
    scale: ColourScale,
    Layout { n_screens, n_columns }: Layout,
) -> Canvas {
    let mut block = block_of(1, STRIDE, n_columns);
    paste_screens(&mut block, example, n_screens, 0);
    for (idx, maps) in moments.iter().enumerate() {
        let cell = ringed(map_cell(maps.levels[0], scale), maps.touches[0]);
        block.paste(&cell, Place { x: column_x(n_screens + idx), y: 0 });
    }
    block.paste(&truth_cell(&example.truth(&[])), Place { x: column_x(n_columns - 1), y: 0 });
    block
}

fn two_touch_block(
    example: &Example,
    moments: &[&ExampleMaps<'_>],
    scale: ColourScale,
    Layout { n_screens, n_columns }: Layout,
) -> Canvas {
    let row_px = LINE + STRIDE;
    let mut block = block_of(3, row_px, n_columns);
    for (row, caption) in captions().iter().enumerate() {
        block.write(caption, Place { x: column_x(n_screens), y: row * row_px }, INK);
    }
    let place = |column: usize, row: usize| Place { x: column_x(column), y: row * row_px + LINE };
    paste_screens(&mut block, example, n_screens, LINE);
    for (idx, maps) in moments.iter().enumerate() {
        let first = maps.touches[0];
        let [of_first, of_second] = [0, 1].map(|map| map_cell(maps.levels[map], scale));
        let cells = [of_first, of_second, truth_cell(&example.truth(&[first]))];
        for (row, cell) in cells.into_iter().enumerate() {
            block.paste(&ringed(cell, first), place(n_screens + idx, row));
        }
    }
    block.paste(&truth_cell(&example.truth(&[])), place(n_columns - 1, 0));
    if let (Some(maps), Some(screen)) = (moments.last(), example.screens.last()) {
        let words = Place { x: column_x(n_columns - 1), y: row_px };
        block.write("its last box", words, INK);
        let cell = boxed(screen_cell(screen), [maps.touches[0], maps.touches[1]]);
        block.paste(&cell, place(n_columns - 1, 1));
    }
    block
}
