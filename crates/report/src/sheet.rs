//! Contact sheets: screens of tasks above their true reward maps (as in figure 2 of the paper).

use crate::canvas::{Canvas, Place};
use crate::lettering::{LINE_PX, Weight, text_width, wrapped};
use crate::trial_shots::{Shot, TrialShots};
use touchstream_env::touch::SCREEN_SIDE_PX;

/// A task and some of its trials.
pub struct TaskShots {
    /// The task's id.
    pub id: String,
    /// The task in one sentence.
    pub title: String,
    /// Facts about it, for instance its chance level; may be empty.
    pub facts: String,
    pub trials: Vec<TrialShots>,
}

/// The layout of a sheet.
#[derive(Clone, Copy, Debug)]
pub struct SheetStyle {
    /// Screens are shown at `1 / divisor` of their size.
    pub divisor: usize,
    pub n_columns: usize,
}

const PAPER: [u8; 3] = [250; 3];
const INK: [u8; 3] = [20; 3];
const FAINT_INK: [u8; 3] = [110; 3];
const GAP_PX: usize = 3;
const TRIAL_GAP_PX: usize = 10;
const MARGIN_PX: usize = 12;
const RING_PX: usize = 7;
/// Titles are broken at this width, or at the width of the trials if these are wider.
const MIN_BLOCK_PX: usize = 240;

/// All tasks on one sheet, in reading order, with the colour bar at the top.
pub fn contact_sheet(tasks: &[TaskShots], style: SheetStyle) -> Canvas {
    let blocks: Vec<Canvas> = tasks.iter().map(|task| task_block(task, style.divisor)).collect();
    let n_columns = style.n_columns.clamp(1, blocks.len().max(1));
    let rows: Vec<&[Canvas]> = blocks.chunks(n_columns).collect();
    let column_px = blocks.iter().map(Canvas::width).max().unwrap_or(0) + MARGIN_PX;
    let row_px: Vec<usize> =
        rows.iter().map(|row| row.iter().map(Canvas::height).max().unwrap_or(0) + MARGIN_PX).collect();
    let key = "Screens above their true reward maps; a ring marks a perfect touch. Reward:";
    let key_lines = wrapped(key, column_px * n_columns);
    let header_px = MARGIN_PX + (key_lines.len() + 1) * LINE_PX + TRIAL_GAP_PX;
    let (width, height) = (column_px * n_columns + MARGIN_PX, header_px + row_px.iter().sum::<usize>());
    let mut sheet = Canvas::new(width, height, PAPER);
    let mut y = MARGIN_PX;
    for line in key_lines {
        sheet.write(&line, Place { x: MARGIN_PX, y }, FAINT_INK);
        y += LINE_PX;
    }
    sheet.colour_bar(Place { x: MARGIN_PX, y }, "1", FAINT_INK);
    y = header_px;
    for (row, height) in rows.iter().zip(row_px) {
        for (idx, block) in row.iter().enumerate() {
            sheet.paste(block, Place { x: MARGIN_PX + idx * column_px, y });
        }
        y += height;
    }
    sheet
}

/// A task's name above its trials, each with its label.
fn task_block(task: &TaskShots, divisor: usize) -> Canvas {
    let strips: Vec<Canvas> = task.trials.iter().map(|trial| trial_strip(&trial.shots, divisor)).collect();
    let labels: Vec<Vec<String>> = task
        .trials
        .iter()
        .zip(&strips)
        .map(|(trial, strip)| wrapped(&trial.label, strip.width() + TRIAL_GAP_PX / 2))
        .collect();
    let width = strips.iter().map(|strip| strip.width() + TRIAL_GAP_PX).sum::<usize>();
    let width = width.max(MIN_BLOCK_PX).max(text_width(&task.id, Weight::Bold));
    let lines: Vec<String> =
        [&task.title, &task.facts].into_iter().flat_map(|text| wrapped(text, width)).collect();
    let labels_y = (lines.len() + 1) * LINE_PX + 6;
    let strips_y = labels_y + labels.iter().map(Vec::len).max().unwrap_or(0) * LINE_PX + 2;
    let height = strips_y + strips.iter().map(Canvas::height).max().unwrap_or(0);
    let mut block = Canvas::new(width, height, PAPER);
    block.write_bold(&task.id, Place { x: 0, y: 0 }, INK);
    for (idx, line) in lines.iter().enumerate() {
        block.write(line, Place { x: 0, y: (idx + 1) * LINE_PX }, FAINT_INK);
    }
    let mut x = 0;
    for (strip, label) in strips.iter().zip(&labels) {
        for (idx, line) in label.iter().rev().enumerate() {
            block.write(line, Place { x, y: strips_y - 2 - (idx + 1) * LINE_PX }, INK);
        }
        block.paste(strip, Place { x, y: strips_y });
        x += strip.width() + TRIAL_GAP_PX;
    }
    block
}

/// The screens of a trial from left to right, each above its map; a ring marks a best touch.
pub fn trial_strip(shots: &[Shot], divisor: usize) -> Canvas {
    let cell_px = SCREEN_SIDE_PX / divisor.max(1);
    let n = shots.len();
    let mut strip = Canvas::new(n * cell_px + n.saturating_sub(1) * GAP_PX, 2 * cell_px + GAP_PX, PAPER);
    for (idx, shot) in shots.iter().enumerate() {
        let x = idx * (cell_px + GAP_PX);
        let mut map = Canvas::of_map(&shot.map);
        if let Some(touch) = shot.best_touch {
            map.ring(Place { x: touch.col(), y: touch.row() }, RING_PX);
        }
        strip.paste(&Canvas::of_screen(&shot.screen).shrunk(divisor), Place { x, y: 0 });
        strip.paste(&map.shrunk(divisor), Place { x, y: cell_px + GAP_PX });
    }
    strip
}
