//! The animation of reward maps during training, one frame per snapshot.

use crate::maps::cells::{
    ColourScale, GAP, INK, LINE, PAPER, STRIDE, boxed, column_x, map_cell, paste_ringed, screen_cell,
    screen_titles, truth_cell,
};
use crate::maps::example::Example;
use crate::maps::snapshot::MapSnapshot;
use touchstream_analysis::thousands;
use touchstream_report::canvas::{Canvas, Place};
use touchstream_report::film::Film;

/// Number of examples next to each other.
const N_ACROSS: usize = 2;
const EXAMPLE_GAP: usize = 18;
const PROGRESS_PX: usize = 4;
const FAINT: [u8; 3] = [225; 3];

/// For each example: its label, its screens, and each predicted map next to the true one. If a trial has two touches,
/// the box between the best ones is drawn on the screen. `None` if there are no examples or snapshots.
pub fn map_film(examples: &[Example], snapshots: &[MapSnapshot]) -> Option<Film> {
    let n_screens = examples.iter().map(|example| example.screens.len()).max()?;
    let n_maps = examples.iter().map(Example::n_maps).max()?;
    let last_step = snapshots.last()?.step.max(1) as usize;
    let example_px = (n_screens + 2 * n_maps) * STRIDE + EXAMPLE_GAP;
    let n_across = N_ACROSS.min(examples.len());
    let head = GAP + PROGRESS_PX + GAP + 2 * LINE;
    let width = n_across * example_px - EXAMPLE_GAP + GAP;
    let mut blank = Canvas::new(width, head + examples.len().div_ceil(n_across) * (LINE + STRIDE), PAPER);
    blank.paste(&Canvas::new(width - 2 * GAP, PROGRESS_PX, FAINT), Place { x: GAP, y: GAP });
    for across in 0..n_across {
        let mut titles: Vec<String> = screen_titles(n_screens).map(str::to_owned).collect();
        for number in 1..=n_maps {
            let of_touch = if n_maps > 1 { format!(", touch {number}") } else { String::new() };
            titles.extend([format!("predicted{of_touch}"), format!("true{of_touch}")]);
        }
        for (column, title) in titles.iter().enumerate() {
            let place = Place { x: across * example_px + column_x(column), y: head - LINE };
            blank.write(title, place, INK);
        }
    }
    let scale = ColourScale::of(snapshots);
    scale.draw(&mut blank, Place { x: GAP + 2 * STRIDE, y: head - 2 * LINE });
    let corner = |idx: usize| (idx % n_across * example_px, head + idx / n_across * (LINE + STRIDE));
    // Everything that is the same in all frames is drawn once.
    let mut constant_truths = Vec::new();
    for (idx, example) in examples.iter().enumerate() {
        let (x, y) = corner(idx);
        blank.write_bold(&example.label, Place { x: x + GAP, y }, INK);
        for (number, screen) in example.screens.iter().rev().enumerate() {
            let x = x + column_x(n_screens - 1 - number);
            blank.paste(&screen_cell(screen), Place { x, y: y + LINE });
        }
        constant_truths.push(truth_cell(&example.truth(&[])));
    }
    let frame = |snapshot: &MapSnapshot| {
        let mut frame = blank.clone();
        let progress = (width - 2 * GAP) * snapshot.step as usize / last_step;
        frame.paste(&Canvas::new(progress, PROGRESS_PX, INK), Place { x: GAP, y: GAP });
        let title = format!("after {} steps", thousands(snapshot.step));
        frame.write_bold(&title, Place { x: GAP, y: head - 2 * LINE }, INK);
        for (idx, (example, maps)) in examples.iter().zip(snapshot.of_examples(examples)).enumerate() {
            let (x, y) = corner(idx);
            let place = |column: usize| Place { x: x + column_x(column), y: y + LINE };
            if let ([one, other], Some(screen)) = (&maps.touches[..], example.screens.last()) {
                frame.paste(&boxed(screen_cell(screen), [*one, *other]), place(n_screens - 1));
            }
            for (map, (levels, &touch)) in maps.levels.iter().zip(&maps.touches).enumerate() {
                let truth = match &maps.touches[..map] {
                    [] => constant_truths[idx].clone(),
                    before => truth_cell(&example.truth(before)),
                };
                let column = n_screens + 2 * map;
                paste_ringed(&mut frame, &map_cell(levels, scale), place(column), touch);
                paste_ringed(&mut frame, &truth, place(column + 1), touch);
            }
        }
        frame
    };
    Film::of(snapshots.iter().map(frame).collect())
}
