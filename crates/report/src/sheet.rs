//! Contact sheets: tasks side by side, screens above their true reward maps, like the paper's Figure 2.

use crate::canvas::{Canvas, LETTER_PX, Place};
use crate::trial_shots::Shot;
use touchstream_env::touch::SCREEN_SIDE_PX;

/// A task and some of its trials.
pub struct TaskShots {
    /// The task's id.
    pub id: String,
    /// What it is, in a sentence.
    pub title: String,
    /// Facts about it, for instance its chance level; may be empty.
    pub facts: String,
    /// Trials, each a sequence of screens.
    pub trials: Vec<Vec<Shot>>,
}

/// How a sheet looks.
#[derive(Clone, Copy, Debug)]
pub struct SheetStyle {
    /// Screens are shown at one `1 / divisor` of their size.
    pub divisor: usize,
    /// Tasks beside each other.
    pub n_columns: usize,
}

const PAPER: [u8; 3] = [250; 3];
const INK: [u8; 3] = [20; 3];
const FAINT_INK: [u8; 3] = [110; 3];
const LINE_PX: usize = LETTER_PX + 3;
const GAP_PX: usize = 3;
const TRIAL_GAP_PX: usize = 10;
const MARGIN_PX: usize = 12;
const RING_PX: usize = 7;

/// The tasks on one sheet, in reading order.
pub fn contact_sheet(tasks: &[TaskShots], style: SheetStyle) -> Canvas {
    let blocks: Vec<Canvas> = tasks.iter().map(|task| task_block(task, style.divisor)).collect();
    let n_columns = style.n_columns.clamp(1, blocks.len().max(1));
    let rows: Vec<&[Canvas]> = blocks.chunks(n_columns).collect();
    let column_px = blocks.iter().map(Canvas::width).max().unwrap_or(0) + MARGIN_PX;
    let row_px: Vec<usize> =
        rows.iter().map(|row| row.iter().map(Canvas::height).max().unwrap_or(0) + MARGIN_PX).collect();
    let mut sheet =
        Canvas::new(column_px * n_columns + MARGIN_PX, row_px.iter().sum::<usize>() + MARGIN_PX, PAPER);
    let mut y = MARGIN_PX;
    for (row, height) in rows.iter().zip(row_px) {
        for (idx, block) in row.iter().enumerate() {
            sheet.paste(block, Place { x: MARGIN_PX + idx * column_px, y });
        }
        y += height;
    }
    sheet
}

/// A task's name above its trials.
fn task_block(task: &TaskShots, divisor: usize) -> Canvas {
    let trials: Vec<Canvas> = task.trials.iter().map(|shots| trial_strip(shots, divisor)).collect();
    let trials_px = trials.iter().map(|strip| strip.width() + TRIAL_GAP_PX).sum::<usize>();
    let n_letters = (trials_px / LETTER_PX).max(24);
    let lines: Vec<String> =
        [&task.title, &task.facts].into_iter().flat_map(|text| wrapped(text, n_letters)).collect();
    let header_px = (lines.len() + 1) * LINE_PX + 4;
    let height = header_px + trials.iter().map(Canvas::height).max().unwrap_or(0);
    let mut block = Canvas::new(trials_px.max(n_letters * LETTER_PX), height, PAPER);
    block.write(&task.id, Place { x: 0, y: 0 }, INK);
    for (idx, line) in lines.iter().enumerate() {
        block.write(line, Place { x: 0, y: (idx + 1) * LINE_PX }, FAINT_INK);
    }
    let mut x = 0;
    for strip in &trials {
        block.paste(strip, Place { x, y: header_px });
        x += strip.width() + TRIAL_GAP_PX;
    }
    block
}

/// The screens of a trial from left to right, each above its map; a ring marks a perfect touch.
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

/// A text in lines of at most so many letters, broken between words; a longer word stands alone.
fn wrapped(text: &str, n_letters: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= n_letters => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.into()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_between_words() {
        assert_eq!(wrapped("touch two opposite corners", 12), ["touch two", "opposite", "corners"]);
        assert_eq!(wrapped("unbreakable", 4), ["unbreakable"]);
        assert!(wrapped("  ", 4).is_empty());
    }
}
