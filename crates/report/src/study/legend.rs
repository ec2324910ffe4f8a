//! The legend of a figure: in one row if it fits, else in columns.

use crate::study::figure::Drawing;
use crate::study::style::{fill_class, stroke_class};
use crate::study::text_width::text_width_px;

/// The symbol in front of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    Line(usize),
    /// A point with its interval, in a colour.
    Estimate(usize),
    Level,
    Mark,
    Seed,
    /// A diamond for the paper's value.
    Paper,
}

/// A legend, whose size is known before it is drawn.
pub(super) struct Legend<'a> {
    entries: Vec<(Sign, &'a str)>,
    /// Left edge in pixels and row of each entry.
    places: Vec<(f64, usize)>,
    n_rows: usize,
}

const SIGN_WIDTH: f64 = 34.0;
const GAP: f64 = 18.0;
const ROW_HEIGHT: f64 = 19.0;
const TEXT_SIZE: f64 = 13.0;

impl<'a> Legend<'a> {
    /// Arranges the entries in a width of `width` pixels.
    pub fn new(entries: Vec<(Sign, &'a str)>, width: f64) -> Self {
        let widths: Vec<f64> =
            entries.iter().map(|(_, name)| SIGN_WIDTH + text_width_px(name, TEXT_SIZE) + GAP).collect();
        let widest = widths.iter().copied().fold(1.0, f64::max);
        let n_columns = if widths.iter().sum::<f64>() - GAP <= width {
            entries.len()
        } else {
            ((width + GAP) / widest).floor().max(1.0) as usize
        };
        // If there are several rows, entries are arranged by column, so that neighbours in the list stay together.
        let n_rows = entries.len().div_ceil(n_columns.max(1));
        let mut left = 0.0;
        let mut places = Vec::new();
        for (idx, width) in widths.iter().enumerate() {
            if n_rows > 1 {
                places.push(((idx / n_rows) as f64 * widest, idx % n_rows));
            } else {
                places.push((left, 0));
                left += width;
            }
        }
        Self { entries, places, n_rows }
    }

    pub fn height(&self) -> f64 {
        self.n_rows as f64 * ROW_HEIGHT
    }

    /// Draws the legend with its top left corner at (left, top).
    pub fn draw(&self, drawing: &mut Drawing, left: f64, top: f64) {
        for ((sign, name), (offset, row)) in self.entries.iter().zip(&self.places) {
            let (x, y) = (left + offset, top + (*row as f64 + 0.5) * ROW_HEIGHT);
            let (end, middle) = (x + SIGN_WIDTH - 7.0, x + (SIGN_WIDTH - 7.0) / 2.0);
            match sign {
                Sign::Line(idx) => {
                    drawing.line(&format!("line {}", stroke_class(*idx)), (x, y), (end, y));
                }
                Sign::Estimate(idx) => {
                    drawing.line(&format!("line {}", stroke_class(*idx)), (x, y), (end, y));
                    drawing.dot(&fill_class(*idx), middle, y, 4.0);
                }
                Sign::Level => drawing.line("level", (x, y), (end, y)),
                Sign::Mark => drawing.line("mark", (middle, y - 8.0), (middle, y + 8.0)),
                Sign::Seed => drawing.dot("seed faint", middle, y, 2.5),
                Sign::Paper => drawing.diamond(middle, y),
            }
            drawing.text("", x + SIGN_WIDTH, y + 4.5, name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_do_not_overlap_and_stay_inside() {
        let names: Vec<String> = (0..24).map(|idx| format!("module-number-{idx}")).collect();
        for (n, width, n_rows) in [(3, 860.0, 1), (7, 860.0, 2), (24, 860.0, 6), (24, 100.0, 24)] {
            let entries = names[..n].iter().map(|name| (Sign::Line(0), name.as_str())).collect();
            let legend = Legend::new(entries, width);
            assert_eq!(legend.n_rows, n_rows, "{n} in {width}");
            for (idx, (left, row)) in legend.places.iter().enumerate() {
                let right = left + SIGN_WIDTH + text_width_px(&names[idx], TEXT_SIZE);
                assert!(right <= width || n_rows == 24, "{idx} ends at {right}");
                let after = legend.places.iter().filter(|place| place.1 == *row && place.0 > *left);
                assert!(after.into_iter().all(|place| place.0 >= right), "{idx} overlaps");
            }
        }
    }
}
