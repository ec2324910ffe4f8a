//! The image of reward maps (figure 3 of the paper): screens, predicted maps during training, and true maps.

use crate::maps::cells::{
    ColourScale, GAP, INK, LINE, PAPER, STRIDE, boxed, column_x, map_cell, paste_ringed, screen_cell,
    screen_titles, truth_cell,
};
use crate::maps::example::Example;
use crate::maps::snapshot::{ExampleMaps, MapSnapshot, strip_snapshots};
use touchstream_analysis::thousands;
use touchstream_report::canvas::{Canvas, Place};
use touchstream_report::lettering::{Weight, text_width};

/// One row per example: its screens, one map per snapshot, the true map. If a trial has two touches, there are three
/// rows: maps of the first touch; maps of the second touch after the best first one (which is ringed); true maps of
/// that second touch.
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
    let height = head + blocks.iter().map(Canvas::height).sum::<usize>();
    let mut canvas = Canvas::new(n_columns * STRIDE + GAP, height, PAPER);
    let mut title = |column: usize, text: &str| {
        canvas.write(text, Place { x: column_x(column), y: GAP + LINE }, INK);
    };
    screen_titles(n_screens).enumerate().for_each(|(column, name)| title(column, name));
    for (idx, snapshot) in shown.iter().enumerate() {
        let after = if idx == 0 { "after " } else { "" };
        title(n_screens + idx, &format!("{after}{} steps", thousands(snapshot.step)));
    }
    title(n_columns - 1, "true reward");
    canvas.write_bold("predicted reward maps", Place { x: column_x(n_screens), y: GAP }, INK);
    scale.draw(&mut canvas, Place { x: column_x(n_screens + 2), y: GAP });
    let mut y = head;
    for block in &blocks {
        canvas.paste(block, Place { x: 0, y });
        y += block.height();
    }
    canvas
}

/// Number of columns with screens, and of all columns.
#[derive(Clone, Copy)]
struct Layout {
    n_screens: usize,
    n_columns: usize,
}

/// The lines above the rows of a trial with two touches.
const CAPTIONS: [&str; 3] = [
    "touch 1: the best one is ringed",
    "touch 2, after the ringed one",
    "touch 2, after the ringed one: true reward",
];

/// Number of columns that the longest caption covers.
fn caption_columns() -> usize {
    CAPTIONS
        .map(|caption| text_width(caption, Weight::Regular))
        .into_iter()
        .max()
        .unwrap_or(0)
        .div_ceil(STRIDE)
}

/// An empty block with the example's label and screens.
fn block_of(example: &Example, n_rows: usize, Layout { n_screens, n_columns }: Layout) -> Canvas {
    let mut block = Canvas::new(n_columns * STRIDE + GAP, n_rows * ROW_PX, PAPER);
    block.write_bold(&example.label, Place { x: column_x(0), y: 0 }, INK);
    for (idx, screen) in example.screens.iter().rev().enumerate() {
        block.paste(&screen_cell(screen), cell_place(n_screens - 1 - idx, 0));
    }
    block
}

/// A line of text, a row of cells and the gap below them.
const ROW_PX: usize = LINE + STRIDE;

fn cell_place(column: usize, row: usize) -> Place {
    Place { x: column_x(column), y: row * ROW_PX + LINE }
}

fn one_touch_block(
    example: &Example,
    moments: &[&ExampleMaps<'_>],
    scale: ColourScale,
    layout: Layout,
) -> Canvas {
    let mut block = block_of(example, 1, layout);
    for (idx, maps) in moments.iter().enumerate() {
        let cell = map_cell(maps.levels[0], scale);
        paste_ringed(&mut block, &cell, cell_place(layout.n_screens + idx, 0), maps.touches[0]);
    }
    block.paste(&truth_cell(&example.truth(&[])), cell_place(layout.n_columns - 1, 0));
    block
}

fn two_touch_block(
    example: &Example,
    moments: &[&ExampleMaps<'_>],
    scale: ColourScale,
    layout: Layout,
) -> Canvas {
    let mut block = block_of(example, CAPTIONS.len(), layout);
    // The label takes the first line; captions begin at the maps or after it.
    let label_px = column_x(0) + text_width(&example.label, Weight::Bold) + 2 * GAP;
    for (row, caption) in CAPTIONS.iter().enumerate() {
        let x = column_x(layout.n_screens).max(if row == 0 { label_px } else { 0 });
        block.write(caption, Place { x, y: row * ROW_PX }, INK);
    }
    for (idx, maps) in moments.iter().enumerate() {
        let first = maps.touches[0];
        let [of_first, of_second] = [0, 1].map(|map| map_cell(maps.levels[map], scale));
        let cells = [of_first, of_second, truth_cell(&example.truth(&[first]))];
        for (row, cell) in cells.into_iter().enumerate() {
            paste_ringed(&mut block, &cell, cell_place(layout.n_screens + idx, row), first);
        }
    }
    let last_column = layout.n_columns - 1;
    block.paste(&truth_cell(&example.truth(&[])), cell_place(last_column, 0));
    if let (Some(maps), Some(screen)) = (moments.last(), example.screens.last()) {
        block.write("final box", Place { x: column_x(last_column), y: ROW_PX }, INK);
        let cell = boxed(screen_cell(screen), [maps.touches[0], maps.touches[1]]);
        block.paste(&cell, cell_place(last_column, 1));
    }
    block
}
