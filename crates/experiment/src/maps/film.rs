//! Reward maps as they emerge, one frame a snapshot.

use crate::maps::cells::{
    ColourScale, GAP, INK, LINE, ORDINALS, PAPER, STRIDE, boxed, column_x, map_cell, ringed, screen_cell,
    truth_cell,
};
use crate::maps::example::Example;
use crate::maps::snapshot::MapSnapshot;
use touchstream_report::canvas::{Canvas, Place};
use touchstream_report::film::Film;

/// The step above one row an example: its screens, and each map beside what is true. Where two touches are looked at,
/// the box that the best ones span is drawn on the screen. `None` if there is nothing to show.
pub fn map_film(examples: &[Example], snapshots: &[MapSnapshot]) -> Option<Film> {
    let n_screens = examples.iter().map(|example| example.screens.len()).max()?;
    let n_maps = examples.iter().map(Example::n_maps).max()?;
    let n_columns = n_screens + 2 * n_maps;
    let head = GAP + 2 * LINE;
    let mut blank = Canvas::new(n_columns * STRIDE + GAP, head + examples.len() * STRIDE, PAPER);
    let mut title = |column: usize, words: &str| {
        blank.write(words, Place { x: column_x(column), y: GAP + LINE }, INK);
    };
    for column in 0..n_screens {
        title(column, if column + 1 == n_screens { "screen" } else { "before" });
    }
    for (map, ordinal) in ORDINALS.iter().enumerate().take(n_maps) {
        let words = if n_maps > 1 { format!("{ordinal} touch") } else { "expected".to_owned() };
        title(n_screens + 2 * map, &words);
        title(n_screens + 2 * map + 1, "true");
    }
    let scale = ColourScale::of(snapshots);
    let frame = |snapshot: &MapSnapshot| {
        let mut frame = blank.clone();
        frame.write(&format!("{} steps", snapshot.step), Place { x: column_x(0), y: GAP }, INK);
        frame.write(&scale.words(), Place { x: column_x(n_screens), y: GAP }, INK);
        let mut y = head;
        for (example, maps) in examples.iter().zip(snapshot.of_examples(examples)) {
            let mut paste =
                |cell: &Canvas, column: usize| frame.paste(cell, Place { x: column_x(column), y });
            for (idx, screen) in example.screens.iter().rev().enumerate() {
                let cell = match maps.touches[..] {
                    [one, other] => boxed(screen_cell(screen), [one, other]),
                    _ => screen_cell(screen),
                };
                paste(&cell, n_screens - 1 - idx);
            }
            for (map, (levels, &touch)) in maps.levels.iter().zip(&maps.touches).enumerate() {
                let cells = [map_cell(levels, scale), truth_cell(&example.truth(&maps.touches[..map]))];
                for (idx, cell) in cells.into_iter().enumerate() {
                    paste(&ringed(cell, touch), n_screens + 2 * map + idx);
                }
            }
            y += STRIDE;
        }
        frame
    };
    Film::of(snapshots.iter().map(frame).collect())
}
