//! Draws text in images, antialiased, with the font of the figures.

use resvg::tiny_skia::{FillRule, Mask, Path, PathBuilder, Transform};
use skrifa::charmap::Charmap;
use skrifa::instance::{LocationRef, Size};
use skrifa::outline::{DrawSettings, OutlinePen};
use skrifa::{FontRef, GlyphId, MetadataProvider};

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
    fn font(self) -> FontRef<'static> {
        let bytes: &'static [u8] = match self {
            Self::Regular => include_bytes!("study/font/DejaVuSans.subset.ttf"),
            Self::Bold => include_bytes!("study/font/DejaVuSans-Bold.subset.ttf"),
        };
        FontRef::new(bytes).expect("the font is embedded")
    }
}

/// The glyph of a character, or of `?` if the font lacks it.
fn glyph_of(charmap: &Charmap<'_>, letter: char) -> GlyphId {
    charmap.map(letter).or_else(|| charmap.map('?')).unwrap_or_default()
}

/// Width of a line of text, in pixels.
pub fn text_width(text: &str, weight: Weight) -> usize {
    let font = weight.font();
    let (charmap, metrics) = (font.charmap(), font.glyph_metrics(Size::new(TEXT_PX), LocationRef::default()));
    let glyphs = text.chars().map(|letter| glyph_of(&charmap, letter));
    glyphs.map(|glyph| metrics.advance_width(glyph).unwrap_or(0.0)).sum::<f32>().ceil() as usize
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
    let font = weight.font();
    let size = Size::new(TEXT_PX);
    let (charmap, outlines) = (font.charmap(), font.outline_glyphs());
    let metrics = font.glyph_metrics(size, LocationRef::default());
    let mut pen = Pen { path: PathBuilder::new(), x: 0.0 };
    for letter in text.chars() {
        let glyph = glyph_of(&charmap, letter);
        if let Some(outline) = outlines.get(glyph) {
            outline.draw(DrawSettings::unhinted(size, LocationRef::default()), &mut pen).ok()?;
        }
        pen.x += metrics.advance_width(glyph).unwrap_or(0.0);
    }
    let width = pen.x.ceil() as usize + 1;
    let path: Path = pen.path.finish()?;
    let mut mask = Mask::new(width as u32, LINE_PX as u32)?;
    mask.fill_path(&path, FillRule::Winding, true, Transform::identity());
    Some((width, mask.data().to_vec()))
}

/// Collects the outline of a glyph at a position on the line; y points down.
struct Pen {
    path: PathBuilder,
    x: f32,
}

impl OutlinePen for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        self.path.move_to(self.x + x, BASELINE_PX - y);
    }
    fn line_to(&mut self, x: f32, y: f32) {
        self.path.line_to(self.x + x, BASELINE_PX - y);
    }
    fn quad_to(&mut self, cx: f32, cy: f32, x: f32, y: f32) {
        self.path.quad_to(self.x + cx, BASELINE_PX - cy, self.x + x, BASELINE_PX - y);
    }
    fn curve_to(&mut self, cx0: f32, cy0: f32, cx1: f32, cy1: f32, x: f32, y: f32) {
        let (first, second) = ((self.x + cx0, BASELINE_PX - cy0), (self.x + cx1, BASELINE_PX - cy1));
        self.path.cubic_to(first.0, first.1, second.0, second.1, self.x + x, BASELINE_PX - y);
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
