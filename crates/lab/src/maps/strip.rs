//! The paper's figure 3: screens, predicted maps over the course of learning, and the true maps.

use crate::maps::example::Example;
use crate::maps::snapshot::{MAP_SIDE, MapSnapshot};
use touchstream_report::canvas::{Canvas, LETTER_PX, Place};
use touchstream_report::colour_map::turbo;

const GAP: usize = 6;
const PAPER: [u8; 3] = [250; 3];
const INK: [u8; 3] = [40; 3];

/// One row an example: its screens, a map a snapshot, the truth.
pub fn map_strip(examples: &[Example], snapshots: &[MapSnapshot]) -> Canvas {
    let n_screens = examples.iter().map(|example| example.screens.len()).max().unwrap_or(0);
    let n_columns = n_screens + snapshots.len() + 1;
    let head = LETTER_PX + 2 * GAP;
    let (width, height) = (n_columns * (MAP_SIDE + GAP) + GAP, head + examples.len() * (MAP_SIDE + GAP));
    let mut canvas = Canvas::new(width, height, PAPER);
    let place = |column: usize, row: usize| Place {
        x: GAP + column * (MAP_SIDE + GAP),
        y: head + row * (MAP_SIDE + GAP),
    };
    let title = |column: usize| Place { x: GAP + column * (MAP_SIDE + GAP), y: GAP };
    for column in 0..n_screens {
        let words = if column + 1 == n_screens { "screen" } else { "before" };
        canvas.write(words, title(column), INK);
    }
    for (idx, snapshot) in snapshots.iter().enumerate() {
        canvas.write(&format!("{} steps", snapshot.step), title(n_screens + idx), INK);
    }
    canvas.write("true", title(n_columns - 1), INK);
    for (row, example) in examples.iter().enumerate() {
        for (idx, screen) in example.screens.iter().rev().enumerate() {
            let small = Canvas::of_screen(screen).shrunk(224 / MAP_SIDE);
            canvas.paste(&small, place(n_screens - 1 - idx, row));
        }
        for (idx, snapshot) in snapshots.iter().enumerate() {
            canvas.paste(&heat_map(&snapshot.map(row)), place(n_screens + idx, row));
        }
        let truth = Canvas::of_map(&example.truth).shrunk(224 / MAP_SIDE);
        canvas.paste(&truth, place(n_columns - 1, row));
    }
    canvas
}

fn heat_map(map: &[f32]) -> Canvas {
    let rows: Vec<Vec<u8>> = map
        .chunks_exact(MAP_SIDE)
        .map(|row| row.iter().flat_map(|&reward| turbo(reward)).collect())
        .collect();
    Canvas::of_rows(rows.iter().map(Vec::as_slice))
}
