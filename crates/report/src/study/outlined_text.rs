//! Texts of a figure as outlines in the embedded font, so that drawing the figure needs no font.

use crate::lettering::{Weight, text_path};
use crate::study::style::{SMALL_TEXT_PX, TEXT_PX};
use resvg::tiny_skia::{Path, PathSegment};
use std::fmt::Write;

/// The SVG of a figure with a path in place of each text. It reads what `Drawing` writes: double quotes, and no elements
/// inside a text.
pub(super) fn outlined(svg: &str) -> String {
    let mut drawn = String::with_capacity(2 * svg.len());
    let mut rest = svg;
    while let Some(start) = rest.find("<text ") {
        let Some((element, after)) = rest[start..].split_once("</text>") else { break };
        let Some((attributes, text)) = element["<text ".len()..].split_once('>') else { break };
        drawn.push_str(&rest[..start]);
        drawn.push_str(&path_element(attributes, &unescaped(text)));
        rest = after;
    }
    drawn + rest
}

fn path_element(attributes: &str, text: &str) -> String {
    let value = |name: &str| {
        let (_, rest) = attributes.split_once(&format!("{name}=\""))?;
        rest.split_once('"').map(|(value, _)| value)
    };
    let coordinate =
        |name: &str| value(&format!(" {name}")).and_then(|text| text.parse().ok()).unwrap_or(0.0);
    let has_class = |class: &str| value("class").unwrap_or_default().split(' ').any(|word| word == class);
    let weight = if has_class("bold") { Weight::Bold } else { Weight::Regular };
    let size_px = if has_class("small") { SMALL_TEXT_PX } else { TEXT_PX };
    let (path, width) = text_path(text, weight, size_px as f32);
    let Some(path) = path else { return String::new() };
    let anchor = match (has_class("middle"), has_class("end")) {
        (true, _) => 0.5,
        (_, true) => 1.0,
        _ => 0.0,
    };
    let data = path_data(&path, (coordinate("x") - anchor * width, coordinate("y")));
    // Classes and styles override the attribute.
    format!("<path fill=\"#222222\" {attributes} d=\"{data}\"/>")
}

fn path_data(path: &Path, (left, baseline): (f32, f32)) -> String {
    let mut data = String::new();
    for segment in path.segments() {
        let (command, points) = match segment {
            PathSegment::MoveTo(to) => ('M', vec![to]),
            PathSegment::LineTo(to) => ('L', vec![to]),
            PathSegment::QuadTo(control, to) => ('Q', vec![control, to]),
            PathSegment::CubicTo(first, second, to) => ('C', vec![first, second, to]),
            PathSegment::Close => ('Z', Vec::new()),
        };
        data.push(command);
        for point in points {
            let _ = write!(data, "{:.3} {:.3} ", left + point.x, baseline + point.y);
        }
    }
    data
}

fn unescaped(text: &str) -> String {
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::figure::{Breadth, Drawing};
    use resvg::usvg::{Options, Rect, Tree};

    fn box_of(draw: impl Fn(&mut Drawing)) -> Rect {
        let mut drawing = Drawing::new();
        draw(&mut drawing);
        let svg = outlined(&drawing.figure("a", "", "", (200.0, 100.0), Breadth::Narrow).svg);
        assert!(!svg.contains("<text"), "{svg}");
        let tree = Tree::from_str(&svg, &Options::default()).unwrap();
        tree.root().children().last().expect("the path is last").abs_bounding_box()
    }

    #[test]
    fn texts_are_where_their_classes_say() {
        let at = |class: &'static str| box_of(move |drawing| drawing.text(class, 100.0, 50.0, "HHHH"));
        let (start, middle, end) = (at(""), at("middle"), at("end"));
        assert!(start.left() >= 100.0 && start.left() < 102.0 && start.bottom() == 50.0, "{start:?}");
        assert!(((middle.left() + middle.right()) / 2.0 - 100.0).abs() < 1.0, "{middle:?}");
        assert!(end.right() <= 100.0 && end.right() > 98.0, "{end:?}");
        assert!(at("small").height() < start.height() && at("bold").width() > start.width());
        let turned = box_of(|drawing| drawing.turned_text("end", 100.0, 50.0, -90.0, "HHHH"));
        assert!(turned.height() > turned.width() && turned.top() > 49.0, "{turned:?}");
    }

    #[test]
    fn escaped_letters_are_one_letter_each() {
        let one = box_of(|drawing| drawing.text("", 0.0, 50.0, "H&H"));
        let plain = box_of(|drawing| drawing.text("", 0.0, 50.0, "HmmH"));
        assert!(one.width() < plain.width(), "{one:?} {plain:?}");
        assert_eq!(unescaped("&amp;lt;&lt;"), "&lt;<");
    }

    #[test]
    fn an_unfinished_text_is_left_as_it_is() {
        for svg in ["<text x=\"1\"", "<svg><text x=\"1\">a", "", "<text >"] {
            assert_eq!(outlined(svg), svg);
        }
    }
}
