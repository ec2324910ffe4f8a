//! Draws a figure as PNG: the SVG with its light colours and the embedded font.

use crate::study::outlined_text::outlined;
use resvg::tiny_skia::{Color, Pixmap, Transform};
use resvg::usvg::{Options, Tree};

/// Twice the SVG's size: sharp in print and on high-resolution screens.
pub const DEFAULT_SCALE: f32 = 2.0;

/// Maximum width and height in pixels.
const LONGEST_SIDE: f32 = 20_000.0;

/// Why a figure cannot be drawn.
#[derive(Debug, thiserror::Error)]
pub enum PngError {
    #[error("the figure is not a valid SVG")]
    Svg(#[from] resvg::usvg::Error),
    #[error("a figure of {width} x {height} cannot be drawn {scale} times as large")]
    Size { width: f32, height: f32, scale: f32 },
    #[error("the figure as PNG: {0}")]
    Encoding(String),
}

/// Draws an SVG on white at `scale` times its size. The same SVG gives the same bytes.
pub fn png_from_svg(svg: &str, scale: f32) -> Result<Vec<u8>, PngError> {
    let tree = Tree::from_str(&outlined(svg), &Options::default())?;
    let (width, height) = (tree.size().width(), tree.size().height());
    let size_error = PngError::Size { width, height, scale };
    let sides = [width * scale, height * scale].map(f32::ceil);
    if !sides.iter().all(|side| (1.0..=LONGEST_SIDE).contains(side)) {
        return Err(size_error);
    }
    let mut picture = Pixmap::new(sides[0] as u32, sides[1] as u32).ok_or(size_error)?;
    picture.fill(Color::WHITE);
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut picture.as_mut());
    picture.encode_png().map_err(|error| PngError::Encoding(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::band_line::BandPoint;
    use crate::study::panels::{Panel, PanelCurve, Panels};
    use std::collections::BTreeSet;

    fn profile(label: &str) -> String {
        let point = |x| BandPoint { x, y: 1.0 - x, lower: 0.9 - x, upper: 1.0 - x };
        let curve = PanelCurve { points: vec![point(0.0), point(1.0)], ..PanelCurve::default() };
        Panels {
            x_label: label.into(),
            y_label: "share of runs".into(),
            line_names: vec!["ems".into()],
            panels: vec![Panel { curves: vec![curve], ..Panel::default() }],
            ..Panels::default()
        }
        .figure()
        .svg
    }

    fn pixels(png: &[u8]) -> (u32, u32, Vec<u8>) {
        let mut reader = png::Decoder::new(std::io::Cursor::new(png)).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        (info.width, info.height, pixels)
    }

    fn n_dark(pixels: &[u8]) -> usize {
        pixels.chunks(4).filter(|pixel| pixel[..3].iter().all(|&channel| channel < 0x60)).count()
    }

    #[test]
    fn lines_bands_and_letters_are_drawn() {
        let (width, height, drawn) = pixels(&png_from_svg(&profile("threshold"), 2.0).unwrap());
        assert_eq!((width, height), (1280, 2 * (height / 2)));
        let colours: BTreeSet<&[u8]> = drawn.chunks(4).collect();
        assert!(colours.len() > 30, "{} colours", colours.len());
        // In the light style the first line is blue and the background white.
        assert!(colours.contains(&[0x00, 0x72, 0xb2, 0xff][..]));
        assert_eq!(drawn[..4], [0xff; 4]);
        let (_, _, without) = pixels(&png_from_svg(&profile(""), 2.0).unwrap());
        assert!(n_dark(&drawn) > n_dark(&without) + 300, "{} {}", n_dark(&drawn), n_dark(&without));
    }

    #[test]
    fn every_letter_that_reports_use_is_in_the_font() {
        let with = |letter: char, class: &str| {
            let svg = format!(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"40\" height=\"40\"><text class=\"{class}\" x=\"5\" \
                 y=\"30\">{letter}</text></svg>"
            );
            pixels(&png_from_svg(&svg, 2.0).unwrap()).2
        };
        for class in ["", "bold"] {
            let (blank, unknown) = (with(' ', class), with('\u{4e00}', class));
            for letter in "aZ09±×–−≤≥Δτ•▲✓✗…äéß%".chars() {
                let drawn = with(letter, class);
                assert!(drawn != blank && drawn != unknown, "{class} {letter}");
            }
        }
        assert_ne!(with('a', ""), with('a', "bold"));
    }

    #[test]
    fn the_same_figure_is_the_same_bytes() {
        let svg = profile("threshold");
        assert_eq!(png_from_svg(&svg, 1.0).unwrap(), png_from_svg(&svg, 1.0).unwrap());
    }

    #[test]
    fn what_cannot_be_drawn_is_refused() {
        assert!(matches!(png_from_svg("<svg", 1.0), Err(PngError::Svg(_))));
        for scale in [0.0, -1.0, 1e6, f32::NAN] {
            assert!(matches!(png_from_svg(&profile(""), scale), Err(PngError::Size { .. })), "{scale}");
        }
    }
}
