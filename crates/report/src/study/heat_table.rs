//! A table of coloured cells: a row per module, a column per task, the value in every cell.

use crate::study::figure::{Breadth, Drawing, Figure, xml_text};
use crate::study::text_width::{fitted, text_width_px};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeatTable {
    pub id: String,
    pub title: String,
    pub caption: String,
    /// The quantity that is shown, such as `normalized area`.
    pub value_label: String,
    pub rows: Vec<String>,
    pub columns: Vec<String>,
    /// Rows of values from 0 to 1; missing values are marked as missing.
    pub values: Vec<Vec<Option<f64>>>,
}

const CELL_WIDTH: f64 = 54.0;
const CELL_HEIGHT: f64 = 26.0;
const TEXT_SIZE: f64 = 13.0;
const LONGEST_NAME: f64 = 230.0;

/// Viridis at equal distances from 0 to 1.
const COLOURS: [[u8; 3]; 9] = [
    [68, 1, 84],
    [71, 44, 122],
    [59, 81, 139],
    [44, 113, 142],
    [33, 144, 141],
    [39, 173, 129],
    [92, 200, 99],
    [170, 220, 50],
    [253, 231, 37],
];

impl HeatTable {
    pub fn figure(&self) -> Figure {
        let mut drawing = Drawing::new();
        let widest = |names: &[String]| {
            names.iter().map(|name| text_width_px(name, TEXT_SIZE)).fold(0.0, f64::max).min(LONGEST_NAME)
        };
        let left = widest(&self.rows) + 22.0;
        // Column names are rotated by 45 degrees.
        let rise = widest(&self.columns) * std::f64::consts::FRAC_1_SQRT_2;
        let top = rise + 24.0;
        for (idx, name) in self.columns.iter().enumerate() {
            let x = left + (idx as f64 + 0.5) * CELL_WIDTH + 2.0;
            drawing.turned_text("", x, top - 8.0, -45.0, &fitted(name, TEXT_SIZE, LONGEST_NAME));
        }
        for (row_idx, name) in self.rows.iter().enumerate() {
            let y = top + row_idx as f64 * CELL_HEIGHT;
            drawing.text("end", left - 8.0, y + 17.5, &fitted(name, TEXT_SIZE, LONGEST_NAME));
            for (column_idx, column) in self.columns.iter().enumerate() {
                let x = left + column_idx as f64 * CELL_WIDTH;
                let about = format!("{name}, {column}");
                draw_cell(&mut drawing, (x, y), self.value(row_idx, column_idx), &about);
            }
        }
        let right = left + self.columns.len() as f64 * CELL_WIDTH;
        let bottom = top + self.rows.len() as f64 * CELL_HEIGHT + 16.0;
        self.draw_key(&mut drawing, left, bottom);
        let key_width = 160.0 + text_width_px(&self.value_label, TEXT_SIZE) + 220.0;
        let reaches = self.columns.iter().enumerate().map(|(idx, name)| {
            let length = text_width_px(name, TEXT_SIZE).min(LONGEST_NAME) + TEXT_SIZE;
            left + (idx as f64 + 0.5) * CELL_WIDTH + length * std::f64::consts::FRAC_1_SQRT_2
        });
        let width = reaches.fold(right.max(left + key_width), f64::max) + 12.0;
        let breadth = if width > 640.0 { Breadth::Wide } else { Breadth::Narrow };
        drawing.figure(&self.id, &self.title, &self.caption, (width, bottom + 34.0), breadth)
    }

    fn value(&self, row_idx: usize, column_idx: usize) -> Option<f64> {
        let value = self.values.get(row_idx).and_then(|row| row.get(column_idx)).copied().flatten();
        value.filter(|value| value.is_finite())
    }

    fn draw_key(&self, drawing: &mut Drawing, left: f64, top: f64) {
        const N_STEPS: usize = 24;
        for idx in 0..N_STEPS {
            let colour = hex(colour_of((idx as f64 + 0.5) / N_STEPS as f64));
            let x = left + 14.0 + idx as f64 * 4.0;
            // All but the last are a little wider than their distance, so that there is no gap between them.
            let width = if idx + 1 < N_STEPS { 6 } else { 4 };
            drawing.add(&format!(
                "<rect x=\"{x:.1}\" y=\"{top:.1}\" width=\"{width}\" height=\"14\" fill=\"{colour}\"/>"
            ));
        }
        let middle = top + 11.5;
        drawing.text("faint end", left + 10.0, middle, "0");
        drawing.text("faint", left + 116.0, middle, "1");
        drawing.text("", left + 136.0, middle, &self.value_label);
        let any_missing = (0..self.rows.len())
            .any(|row| (0..self.columns.len()).any(|column| self.value(row, column).is_none()));
        if any_missing {
            let x = left + 160.0 + text_width_px(&self.value_label, TEXT_SIZE);
            drawing.add(&hatching((x, top - 1.0), (30.0, 16.0)));
            drawing.text("", x + 37.0, middle, "missing: no finished run");
        }
    }
}

fn draw_cell(drawing: &mut Drawing, (x, y): (f64, f64), value: Option<f64>, about: &str) {
    let (width, height) = (CELL_WIDTH - 2.0, CELL_HEIGHT - 2.0);
    let about = xml_text(about);
    let Some(value) = value else {
        drawing.add(&format!("<g class=\"missing\"><title>{about}: missing</title>"));
        drawing.add(&hatching((x + 1.0, y + 1.0), (width, height)));
        let (left, top) = (x + 4.0, y + 6.0);
        drawing.add(&format!(
            "<rect class=\"paper\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"46\" height=\"14\"/>"
        ));
        drawing.text("faint small middle", x + CELL_WIDTH / 2.0, y + 17.0, "missing");
        drawing.add("</g>");
        return;
    };
    let colour = colour_of(value);
    let (fill, ink) = (hex(colour), hex(ink_on(colour)));
    drawing.add(&format!(
        "<g><title>{about}: {value:.3}</title><rect x=\"{:.1}\" y=\"{:.1}\" width=\"{width}\" height=\"{height}\" \
         fill=\"{fill}\"/><text class=\"middle\" x=\"{:.1}\" y=\"{:.1}\" style=\"fill: {ink}\">{value:.2}</text></g>",
        x + 1.0,
        y + 1.0,
        x + CELL_WIDTH / 2.0,
        y + 17.5,
    ));
}

/// Diagonal lines inside a box, and its border.
fn hatching((left, top): (f64, f64), (width, height): (f64, f64)) -> String {
    let mut path = format!("M{left:.1} {top:.1}h{width}v{height}h-{width}z");
    let mut offset = 7.0;
    while offset < width + height {
        // Each line runs from the upper or right edge down to the left or lower edge.
        let from = (left + offset.min(width), top + (offset - width).max(0.0));
        let to = (left + (offset - height).max(0.0), top + offset.min(height));
        path.push_str(&format!("M{:.1} {:.1}L{:.1} {:.1}", from.0, from.1, to.0, to.1));
        offset += 7.0;
    }
    format!("<path class=\"hatch\" d=\"{path}\"/>")
}

/// The colour of a value; values outside 0 to 1 are clamped.
fn colour_of(value: f64) -> [u8; 3] {
    let place = value.clamp(0.0, 1.0) * (COLOURS.len() - 1) as f64;
    let idx = (place as usize).min(COLOURS.len() - 2);
    let share = place - idx as f64;
    std::array::from_fn(|channel| {
        let (from, to) = (f64::from(COLOURS[idx][channel]), f64::from(COLOURS[idx + 1][channel]));
        (from + share * (to - from)).round() as u8
    })
}

/// Black or white, whichever is easier to read.
fn ink_on(colour: [u8; 3]) -> [u8; 3] {
    let inks = [[0; 3], [255; 3]];
    if contrast(inks[0], colour) >= contrast(inks[1], colour) { inks[0] } else { inks[1] }
}

/// The contrast ratio of the Web Content Accessibility Guidelines, from 1 to 21.
fn contrast(one: [u8; 3], other: [u8; 3]) -> f64 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

fn luminance(colour: [u8; 3]) -> f64 {
    let linear = colour.map(|channel| {
        let share = f64::from(channel) / 255.0;
        if share <= 0.040_45 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
    });
    0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
}

fn hex([red, green, blue]: [u8; 3]) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::figure::tests::{HOSTILE, check_stands_alone};

    #[test]
    fn numbers_are_readable_on_every_colour() {
        for percent in 0..=100 {
            let colour = colour_of(f64::from(percent) / 100.0);
            let found = contrast(ink_on(colour), colour);
            assert!(found >= 4.5, "{found} at {percent} %");
        }
        assert_eq!([colour_of(-3.0), colour_of(2.0)], [COLOURS[0], COLOURS[8]]);
    }

    #[test]
    fn what_is_missing_says_so() {
        let table = HeatTable {
            rows: vec!["ems".into(), HOSTILE.into()],
            columns: vec!["sr-2way".into(), HOSTILE.into()],
            values: vec![vec![Some(0.25), Some(f64::NAN)], vec![None]],
            ..HeatTable::default()
        };
        let figure = table.figure();
        check_stands_alone(&figure);
        // One value is NaN, one is `None`, and the last row has too few values.
        assert_eq!(figure.svg.matches("class=\"missing\"").count(), 3, "{}", figure.svg);
        assert_eq!(figure.svg.matches(">missing</text>").count(), 3);
        assert_eq!(figure.svg.matches("class=\"hatch\"").count(), 4);
        assert!(
            figure.svg.contains("<title>ems, sr-2way: 0.250</title>") && figure.svg.contains(">0.25</text>")
        );
    }

    #[test]
    fn a_full_table_speaks_of_nothing_missing() {
        let table = HeatTable {
            rows: vec!["a".into()],
            columns: vec!["b".into()],
            values: vec![vec![Some(1.0)]],
            ..HeatTable::default()
        };
        assert!(!table.figure().svg.contains("missing"));
    }
}
