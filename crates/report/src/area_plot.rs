//! Stacked areas of shares over time, as SVG.

use crate::page::escaped;
use crate::study::axis::{short_number, ticks};
use std::fmt::Write;

/// One area of a stack.
pub struct Area<'a> {
    pub name: &'a str,
    /// The CSS class of its colour. The area is hatched if the class ends in ` hatched`.
    pub class: &'a str,
    /// The share at each step.
    pub shares: &'a [f64],
}

/// Areas whose shares sum to 1 at every step.
pub struct Stack<'a> {
    pub title: &'a str,
    pub steps: &'a [f64],
    pub areas: &'a [Area<'a>],
}

const WIDTH: f64 = 360.0;
const HEIGHT: f64 = 206.0;
const LEFT: f64 = 34.0;
const RIGHT: f64 = 10.0;
const TOP: f64 = 24.0;
const BOTTOM: f64 = 50.0;

/// The plot as an SVG element.
pub fn area_plot(stack: &Stack) -> String {
    let x_max = stack.steps.iter().copied().fold(1.0, f64::max);
    let x = |step: f64| LEFT + (WIDTH - LEFT - RIGHT) * step / x_max;
    let y = |share: f64| TOP + (HEIGHT - TOP - BOTTOM) * (1.0 - share.clamp(0.0, 1.0));
    let mut svg = format!("<svg class=\"plot small\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=img>\n");
    let _ = writeln!(
        svg,
        "<text x={LEFT} y=15><tspan class=strong>{}</tspan>, share of votes</text>",
        escaped(stack.title)
    );
    let _ = writeln!(
        svg,
        "<text x={:.1} y={} text-anchor=middle>steps since the task began</text>",
        (LEFT + WIDTH - RIGHT) / 2.0,
        HEIGHT - 8.0
    );
    let mut below = vec![0.0; stack.steps.len()];
    for area in stack.areas {
        let above: Vec<f64> = below.iter().zip(area.shares).map(|(below, share)| below + share).collect();
        let edge = |heights: &[f64]| -> Vec<String> {
            let places = stack.steps.iter().zip(heights);
            places.map(|(&step, &height)| format!("{:.1},{:.1}", x(step), y(height))).collect()
        };
        let mut corners = edge(&above);
        corners.extend(edge(&below).into_iter().rev());
        let points = corners.join(" ");
        let (class, name) = (area.class, escaped(area.name));
        let _ = writeln!(
            svg,
            "<polygon class=\"area {class}\" points=\"{points}\"><title>{name}</title></polygon>"
        );
        if class.ends_with(" hatched") {
            let _ = writeln!(svg, "<polygon class=hatch points=\"{points}\" />");
        }
        below = above;
    }
    for share in [0.0, 0.5, 1.0] {
        let (x, y) = (LEFT - 6.0, y(share) + 4.0);
        let _ = writeln!(svg, "<text x={x} y={y:.1} text-anchor=end>{share}</text>");
    }
    for step in ticks(x_max) {
        let (x, y, name) = (x(step), HEIGHT - BOTTOM + 16.0, short_number(step));
        let _ = writeln!(svg, "<text x={x:.1} y={y:.1} text-anchor=middle>{name}</text>");
    }
    svg.push_str("</svg>\n");
    svg
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_are_stacked() {
        let areas = [
            Area { name: "old", class: "first", shares: &[0.25, 1.0] },
            Area { name: "new", class: "second hatched", shares: &[0.75, 0.0] },
        ];
        let svg = area_plot(&Stack { title: "layer1 <", steps: &[0.0, 100.0], areas: &areas });
        // A quarter of the height at the start, the full height at the end.
        assert!(
            svg.contains("area first\" points=\"34.0,123.0 350.0,24.0 350.0,156.0 34.0,156.0\""),
            "{svg}"
        );
        assert!(
            svg.contains("area second hatched\" points=\"34.0,24.0 350.0,24.0 350.0,24.0 34.0,123.0\""),
            "{svg}"
        );
        assert_eq!(svg.matches("class=hatch").count(), 1);
        assert!(svg.contains("layer1 &lt;"));
    }
}
