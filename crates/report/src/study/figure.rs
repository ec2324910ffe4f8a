//! A figure: one self-contained SVG, as a file or inside a page.

use crate::page::escaped;
use crate::study::style::{SMALL_TEXT_PX, TEXT_PX, style_element};
use std::fmt::Display;

/// A figure of a study.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figure {
    /// A stable id, also used as a file name: `curves-by-task`.
    pub id: String,
    /// A short title.
    pub title: String,
    /// How to read the figure: bands, intervals, number of runs.
    pub caption: String,
    pub svg: String,
}

/// How wide a figure must be before it scrolls on a narrow screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Breadth {
    Narrow,
    /// Many plots or columns next to each other.
    Wide,
}

/// Minimum size of letters that are readable on a phone, in pixels.
const LEAST_TEXT_PX: f64 = 11.0;

/// An SVG file that is being drawn; coordinates are in its own pixels.
pub(super) struct Drawing {
    body: String,
    smallest_text_px: f64,
}

impl Drawing {
    pub fn new() -> Self {
        Self { body: String::new(), smallest_text_px: TEXT_PX }
    }

    /// Appends SVG whose texts are already escaped.
    pub fn add(&mut self, element: &str) {
        self.body.push_str(element);
        self.body.push('\n');
    }

    /// Writes a text. Its baseline begins at (x, y), unless its classes specify that it is centred or ends there.
    pub fn text(&mut self, class: &str, x: f64, y: f64, text: &str) {
        self.note_size(class);
        self.add(&format!("<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", xml_text(text)));
    }

    /// Writes a text centred at (x, y), rotated.
    pub fn turned_text(&mut self, class: &str, x: f64, y: f64, degrees: f64, text: &str) {
        self.note_size(class);
        let text = xml_text(text);
        self.add(&format!(
            "<text class=\"{class}\" transform=\"translate({x:.1} {y:.1}) rotate({degrees})\">{text}</text>"
        ));
    }

    fn note_size(&mut self, class: &str) {
        if class.split(' ').any(|class| class == "small") {
            self.smallest_text_px = SMALL_TEXT_PX;
        }
    }

    pub fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let ((x1, y1), (x2, y2)) = (from, to);
        self.add(&format!(
            "<line class=\"{class}\" x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\"/>"
        ));
    }

    /// A diamond centred at (x, y): the mark of the paper's value.
    pub fn diamond(&mut self, x: f64, y: f64) {
        self.add(&format!(
            "<path class=\"paper-value\" d=\"M{x:.1} {y:.1}m0 -5.5l5.5 5.5l-5.5 5.5l-5.5 -5.5z\"/>"
        ));
    }

    pub fn dot(&mut self, class: &str, x: f64, y: f64, radius: f64) {
        self.add(&format!("<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\"/>"));
    }

    pub fn figure(self, id: &str, title: &str, caption: &str, size: (f64, f64), breadth: Breadth) -> Figure {
        let (width, height) = (size.0.ceil(), size.1.ceil());
        let breadth = match breadth {
            Breadth::Narrow => "narrow",
            Breadth::Wide => "broad",
        };
        // A page never shows it narrower than this, but lets it scroll.
        let least = (width * LEAST_TEXT_PX / self.smallest_text_px).ceil();
        let svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"study-figure {breadth}\" viewBox=\"0 0 {width} {height}\" \
             width=\"{width}\" height=\"{height}\" style=\"--least: {least}px\" role=\"img\">\n<title>{}</title>\n<desc>{}</desc>\n{}\
             <rect class=\"paper\" width=\"{width}\" height=\"{height}\"/>\n{}</svg>\n",
            xml_text(title),
            xml_text(caption),
            style_element(),
            self.body,
        );
        Figure { id: id.into(), title: title.into(), caption: caption.into(), svg }
    }
}

/// Escapes a text for XML and removes control characters that XML does not allow.
pub(super) fn xml_text(text: impl Display) -> String {
    let text = text.to_string();
    let is_allowed = |&letter: &char| {
        !letter.is_control() && !matches!(letter, '\u{fffe}' | '\u{ffff}') || matches!(letter, '\n' | '\t')
    };
    escaped(&text.chars().filter(is_allowed).collect::<String>())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A text that would break a figure without escaping.
    pub const HOSTILE: &str = "<&\">\u{1}\u{ffff}]]>";

    /// Checks that the file is valid XML and SVG, has a title and a description, and contains no NaN or infinity.
    #[track_caller]
    pub fn check_stands_alone(figure: &Figure) {
        let tree = resvg::usvg::Tree::from_str(&figure.svg, &Default::default());
        assert!(tree.is_ok(), "{:?}\n{}", tree.err(), figure.svg);
        for part in ["xmlns=\"http://www.w3.org/2000/svg\"", "viewBox=", "<title>", "<desc>", "<style>"] {
            assert!(figure.svg.contains(part), "{part} is missing");
        }
        assert!(!figure.svg.contains("NaN") && !figure.svg.contains("inf\""), "{}", figure.svg);
    }

    #[test]
    fn the_smallest_letters_can_be_read_on_a_phone() {
        #[track_caller]
        fn check(draw: fn(&mut Drawing), least: &str) {
            let mut drawing = Drawing::new();
            draw(&mut drawing);
            let svg = drawing.figure("a", "", "", (800.0, 10.0), Breadth::Wide).svg;
            assert!(svg.contains(&format!("style=\"--least: {least}\"")), "{svg}");
        }
        // Text of 13 px may shrink to 11 px, text of 11 px must not.
        check(|drawing| drawing.text("bold", 0.0, 0.0, "a"), "677px");
        check(|drawing| drawing.text("faint small end", 0.0, 0.0, "a"), "800px");
        check(|drawing| drawing.turned_text("small", 0.0, 0.0, 45.0, "a"), "800px");
    }

    #[test]
    fn any_text_is_safe() {
        assert_eq!(xml_text(HOSTILE), "&lt;&amp;&quot;&gt;]]&gt;");
        let mut drawing = Drawing::new();
        drawing.text("small", 1.0, 2.0, HOSTILE);
        drawing.turned_text("small", 1.0, 2.0, -45.0, HOSTILE);
        check_stands_alone(&drawing.figure("a", HOSTILE, HOSTILE, (10.0, 10.0), Breadth::Narrow));
    }
}
