//! Draws text in images, antialiased, with the font of the figures.

use resvg::tiny_skia::{FillRule, Mask, Path, PathBuilder, Transform};
use std::sync::LazyLock;
use ttf_parser::{Face, GlyphId, OutlineBuilder};

/// Font size in pixels.
const TEXT_PX: f32 = 13.0;
/// Distance between lines of text, in pixels.
pub const LINE_PX: usize = 17;
/// Distance from the top of a line to its baseline.
const BASELINE_PX: f32 = 13.0;

/// Regular or bold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    Regular,
    Bold,
}

impl Weight {
    fn face(self) -> &'static Face<'static> {
        static REGULAR: LazyLock<Face> =
            LazyLock::new(|| embedded(include_bytes!("study/font/DejaVuSans.subset.ttf")));
        static BOLD: LazyLock<Face> =
            LazyLock::new(|| embedded(include_bytes!("study/font/DejaVuSans-Bold.subset.ttf")));
        match self {
            Self::Regular => &REGULAR,
            Self::Bold => &BOLD,
        }
    }
}

fn embedded(font: &'static [u8]) -> Face<'static> {
    Face::parse(font, 0).expect("the font is embedded")
}

/// The glyphs of a text with their advance widths in font units. Characters that the font lacks are drawn as `?`.
fn glyphs(face: &Face, text: &str) -> impl Iterator<Item = (GlyphId, f32)> {
    text.chars().map(move |letter| {
        let glyph = face.glyph_index(letter).or_else(|| face.glyph_index('?')).unwrap_or_default();
        (glyph, f32::from(face.glyph_hor_advance(glyph).unwrap_or(0)))
    })
}

/// Width of a line of text, in pixels.
pub fn text_width(text: &str, weight: Weight) -> usize {
    advance_px(text, weight, TEXT_PX).ceil() as usize
}

fn advance_px(text: &str, weight: Weight, size_px: f32) -> f32 {
    let face = weight.face();
    glyphs(face, text).map(|(_, advance)| advance).sum::<f32>() * size_px / f32::from(face.units_per_em())
}

/// The outlines of a line of text and its width in pixels. The baseline begins at (0, 0), y points down; a text without
/// ink has no path.
pub(crate) fn text_path(text: &str, weight: Weight, size_px: f32) -> (Option<Path>, f32) {
    let face = weight.face();
    let scale = size_px / f32::from(face.units_per_em());
    let mut pen = Pen { path: PathBuilder::new(), scale, x: 0.0 };
    for (glyph, advance) in glyphs(face, text) {
        face.outline_glyph(glyph, &mut pen);
        pen.x += advance * scale;
    }
    let width = pen.x;
    (pen.path.finish(), width)
}

/// Breaks a text into lines that are at most `width_px` wide, between words; a longer word has a line of its own.
pub fn wrapped(text: &str, width_px: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        if let Some(line) = lines.last_mut() {
            let longer = format!("{line} {word}");
            if text_width(&longer, Weight::Regular) <= width_px {
                *line = longer;
                continue;
            }
        }
        lines.push(word.into());
    }
    lines
}

/// Coverage of each pixel of a line of text, `[LINE_PX, width]` in 255ths, and the width.
pub fn text_mask(text: &str, weight: Weight) -> Option<(usize, Vec<u8>)> {
    let (path, width) = text_path(text, weight, TEXT_PX);
    let width = width.ceil() as usize + 1;
    let mut mask = Mask::new(width as u32, LINE_PX as u32)?;
    mask.fill_path(&path?, FillRule::Winding, true, Transform::from_translate(0.0, BASELINE_PX));
    Some((width, mask.data().to_vec()))
}

/// Draws glyphs at a position on the line.
struct Pen {
    path: PathBuilder,
    /// Pixels per font unit.
    scale: f32,
    x: f32,
}

impl Pen {
    fn at(&self, x: f32, y: f32) -> (f32, f32) {
        (self.x + x * self.scale, -y * self.scale)
    }
}

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.move_to(x, y);
    }
    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.line_to(x, y);
    }
    fn quad_to(&mut self, cx: f32, cy: f32, x: f32, y: f32) {
        let ((cx, cy), (x, y)) = (self.at(cx, cy), self.at(x, y));
        self.path.quad_to(cx, cy, x, y);
    }
    fn curve_to(&mut self, cx0: f32, cy0: f32, cx1: f32, cy1: f32, x: f32, y: f32) {
        let ((cx0, cy0), (cx1, cy1), (x, y)) = (self.at(cx0, cy0), self.at(cx1, cy1), self.at(x, y));
        self.path.cubic_to(cx0, cy0, cx1, cy1, x, y);
    }
    fn close(&mut self) {
        self.path.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_between_words() {
        let width = |text| text_width(text, Weight::Regular);
        assert_eq!(
            wrapped("touch two opposite corners", width("touch two opp")),
            ["touch two", "opposite", "corners"]
        );
        assert_eq!(wrapped("unbreakable", 4), ["unbreakable"]);
        assert!(wrapped("  ", 4).is_empty());
        assert!(text_width("mm", Weight::Bold) > width("mm") && width("m") > width("i"));
    }

    #[test]
    fn letters_fit_into_a_line() {
        let (width, mask) = text_mask("Åjpgy(|", Weight::Bold).expect("there are letters");
        let row = |y: usize| &mask[y * width..(y + 1) * width];
        assert!(
            row(1).iter().chain(row(LINE_PX - 1)).any(|&part| part > 0),
            "the line is taller than its letters"
        );
        assert!(mask.contains(&255));
        assert_eq!(text_mask(" ", Weight::Regular), None);
    }
}
