//! A line with a band: a mean and its interval.

use crate::study::figure::Drawing;
use crate::study::plot_area::PlotArea;
use crate::study::style::{fill_class, stroke_class};

/// A point of a line, and both edges of the band there, which may have different distances from the line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BandPoint {
    /// Position on the horizontal axis.
    pub x: f64,
    pub y: f64,
    /// The band's lower edge; equals `y` if there is no band.
    pub lower: f64,
    pub upper: f64,
}

/// Draws the band only, so that lines can be drawn above all bands. Points that are not finite are omitted.
pub(super) fn draw_band(drawing: &mut Drawing, area: &PlotArea, style_idx: usize, points: &[BandPoint]) {
    let there: Vec<&BandPoint> =
        points.iter().filter(|p| p.x.is_finite() && p.lower.is_finite() && p.upper.is_finite()).collect();
    if there.iter().all(|point| point.upper <= point.lower) {
        return;
    }
    let place = |x: f64, y: f64| format!("{:.1},{:.1}", area.x.at(x), area.y.at(y));
    let above = there.iter().map(|point| place(point.x, point.upper));
    let below = there.iter().rev().map(|point| place(point.x, point.lower));
    let corners: Vec<String> = above.chain(below).collect();
    drawing.add(&format!(
        "<polygon class=\"band {}\" points=\"{}\"/>",
        fill_class(style_idx),
        corners.join(" ")
    ));
}

/// Draws the line only; a single point is drawn as a dot.
pub(super) fn draw_line(drawing: &mut Drawing, area: &PlotArea, style_idx: usize, points: &[BandPoint]) {
    let places = places(area, points.iter().map(|point| (point.x, point.y)));
    match places.as_slice() {
        [] => {}
        &[(x, y)] => drawing.dot(&fill_class(style_idx), x, y, 2.5),
        places => drawing.add(&polyline("line", style_idx, places)),
    }
}

/// Draws a single seed as a thin line.
pub(super) fn draw_seed(drawing: &mut Drawing, area: &PlotArea, style_idx: usize, points: &[(f64, f64)]) {
    let places = places(area, points.iter().copied());
    if places.len() > 1 {
        drawing.add(&polyline("line thin", style_idx, &places));
    }
}

fn places(area: &PlotArea, points: impl Iterator<Item = (f64, f64)>) -> Vec<(f64, f64)> {
    let there = points.filter(|(x, y)| x.is_finite() && y.is_finite());
    there.map(|(x, y)| (area.x.at(x), area.y.at(y))).collect()
}

fn polyline(class: &str, style_idx: usize, places: &[(f64, f64)]) -> String {
    let corners: Vec<String> = places.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    format!("<polyline class=\"{class} {}\" points=\"{}\"/>", stroke_class(style_idx), corners.join(" "))
}
