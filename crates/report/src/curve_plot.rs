//! Learning curves as SVG; colours adapt to the light or dark style of the page.

use std::fmt::Write;

/// One line of a plot.
pub struct Line<'a> {
    /// Name in the legend.
    pub name: &'a str,
    /// CSS class of its colour.
    pub class: &'a str,
    /// (step, value, half of the band's height).
    pub points: &'a [(f64, f64, f64)],
}

/// The content of a plot.
pub struct Plot<'a> {
    /// Label of the horizontal axis.
    pub x_label: &'a str,
    /// Label of the vertical axis, which ranges from 0 to 1.
    pub y_label: &'a str,
    /// Later lines are drawn above earlier ones.
    pub lines: &'a [Line<'a>],
    /// Height and name of a dashed horizontal line.
    pub level: Option<(f64, &'a str)>,
    /// Step and name of vertical lines, such as the beginning of a task.
    pub marks: &'a [(f64, &'a str)],
}

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 52.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 28.0;
const BOTTOM: f64 = 44.0;
/// Height of a row of the legend.
const ROW_HEIGHT: f64 = 18.0;

/// The plot as an SVG element.
pub fn curve_plot(plot: &Plot) -> String {
    let x_max = plot.lines.iter().flat_map(|line| line.points).map(|point| point.0).fold(1.0, f64::max);
    let x = |step: f64| LEFT + (WIDTH - LEFT - RIGHT) * step / x_max;
    let y = |value: f64| TOP + (HEIGHT - TOP - BOTTOM) * (1.0 - value.clamp(0.0, 1.0));
    let legend = legend_rows(plot.lines);
    // The legend is next to the axis label if there is space, else in rows of its own.
    let is_beside = row_width(&legend[0]) < 0.6 * WIDTH && legend.len() == 1;
    let height = if is_beside { HEIGHT } else { HEIGHT + ROW_HEIGHT * legend.len() as f64 + 6.0 };
    let mut svg = format!("<svg class=plot viewBox=\"0 0 {WIDTH} {height}\" role=img>\n");
    for tenth in [0.0, 0.25, 0.5, 0.75, 1.0] {
        let at = y(tenth);
        let _ = writeln!(
            svg,
            "<line class=grid x1={LEFT} x2={} y1={at:.1} y2={at:.1} /><text x={} y={:.1} text-anchor=end>{tenth}</text>",
            WIDTH - RIGHT,
            LEFT - 8.0,
            at + 4.0,
        );
    }
    for step in ticks(x_max) {
        let at = x(step);
        let name = short_number(step);
        let _ =
            writeln!(svg, "<text x={at:.1} y={:.1} text-anchor=middle>{name}</text>", HEIGHT - BOTTOM + 18.0);
    }
    let _ = writeln!(
        svg,
        "<text x={:.1} y={:.1} text-anchor=middle>{}</text><text x={LEFT} y=14>{}</text>",
        (LEFT + WIDTH - RIGHT) / 2.0,
        HEIGHT - 6.0,
        plot.x_label,
        plot.y_label,
    );
    if let Some((level, name)) = plot.level {
        let at = y(level);
        let _ = writeln!(
            svg,
            "<line class=level x1={LEFT} x2={} y1={at:.1} y2={at:.1} /><text x={} y={:.1} text-anchor=end>{name}</text>",
            WIDTH - RIGHT,
            WIDTH - RIGHT - 4.0,
            at - 5.0,
        );
    }
    for &(step, name) in plot.marks {
        let at = x(step);
        let _ = writeln!(
            svg,
            "<line class=level x1={at:.1} x2={at:.1} y1={TOP} y2={} /><text class=mark x={:.1} y={:.1}>{name}</text>",
            HEIGHT - BOTTOM,
            at + 4.0,
            TOP + 12.0,
        );
    }
    for line in plot.lines {
        draw_line(&mut svg, line, &x, &y);
    }
    for (idx, row) in legend.iter().enumerate() {
        let at = if is_beside { 10.0 } else { HEIGHT + 12.0 + ROW_HEIGHT * idx as f64 };
        let mut left = WIDTH - RIGHT - row_width(row);
        for line in row {
            let _ = writeln!(
                svg,
                "<line class=\"line {}\" x1={left:.1} x2={:.1} y1={at} y2={at} /><text x={:.1} y={}>{}</text>",
                line.class,
                left + 18.0,
                left + 23.0,
                at + 4.0,
                line.name,
            );
            left += legend_width_of(line);
        }
    }
    svg.push_str("</svg>\n");
    svg
}

/// The names of the lines in rows that fit into the width; at least one row.
fn legend_rows<'a>(lines: &'a [Line<'a>]) -> Vec<Vec<&'a Line<'a>>> {
    let mut rows = vec![Vec::new()];
    for line in lines.iter().filter(|line| !line.points.is_empty()) {
        let last = rows.last_mut().expect("there is a row");
        match last.is_empty() || row_width(last) + legend_width_of(line) <= WIDTH - RIGHT {
            true => last.push(line),
            false => rows.push(vec![line]),
        }
    }
    rows
}

fn row_width(row: &[&Line]) -> f64 {
    row.iter().map(|line| legend_width_of(line)).sum()
}

fn legend_width_of(line: &Line) -> f64 {
    7.0 * line.name.len() as f64 + 30.0
}

fn draw_line(svg: &mut String, line: &Line, x: &impl Fn(f64) -> f64, y: &impl Fn(f64) -> f64) {
    let place = |&(step, value, _): &(f64, f64, f64)| format!("{:.1},{:.1}", x(step), y(value));
    if line.points.iter().any(|point| point.2 > 0.0) {
        let above = line.points.iter().map(|&(step, value, half)| place(&(step, value + half, 0.0)));
        let below = line.points.iter().rev().map(|&(step, value, half)| place(&(step, value - half, 0.0)));
        let band: Vec<String> = above.chain(below).collect();
        let _ = writeln!(svg, "<polygon class=\"band {}\" points=\"{}\" />", line.class, band.join(" "));
    }
    let points: Vec<String> = line.points.iter().map(place).collect();
    let _ = writeln!(svg, "<polyline class=\"line {}\" points=\"{}\" />", line.class, points.join(" "));
}

/// About five round numbers from 0 to `max`.
pub(crate) fn ticks(max: f64) -> Vec<f64> {
    let rough = max / 5.0;
    let power = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].iter().map(|factor| factor * power).find(|&step| step >= rough);
    let step = step.unwrap_or(max);
    (0..=(max / step) as u32).map(|idx| f64::from(idx) * step).collect()
}

/// Removes the rounding error of a sum of tenths.
fn rounded(number: f64) -> f64 {
    (number * 1e6).round() / 1e6
}

/// `30k` for 30,000.
pub(crate) fn short_number(number: f64) -> String {
    match number {
        number if number >= 1e6 => format!("{}M", rounded(number / 1e6)),
        number if number >= 1e3 => format!("{}k", rounded(number / 1e3)),
        number => rounded(number).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(ticks(30_000.0), [0.0, 10_000.0, 20_000.0, 30_000.0]);
        assert_eq!(ticks(100.0), [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]);
        assert_eq!(short_number(2_500.0), "2.5k");
        assert_eq!(short_number(0.1 + 0.2), "0.3");
    }

    #[test]
    fn legends_stay_inside_and_name_what_is_drawn() {
        let points = [(0.0, 0.2, 0.0)];
        let line = |name, points| Line { name, class: "one", points };
        let lines: Vec<Line> = ["a rather long name"; 9].map(|name| line(name, &points[..])).into();
        let rows = legend_rows(&lines);
        assert!(rows.len() > 1 && rows.iter().all(|row| row_width(row) <= WIDTH - RIGHT));
        assert_eq!(rows.iter().map(Vec::len).sum::<usize>(), 9);
        let lines = [line("drawn", &points[..]), line("empty", &[])];
        let names: Vec<&str> = legend_rows(&lines)[0].iter().map(|line| line.name).collect();
        assert_eq!(names, ["drawn"]);
    }

    #[test]
    fn every_line_is_drawn_inside() {
        let points = [(0.0, 0.2, 0.1), (50.0, 1.4, 0.1)];
        let lines = [Line { name: "a", class: "one", points: &points }];
        let svg = curve_plot(&Plot {
            x_label: "steps",
            y_label: "reward",
            lines: &lines,
            level: Some((0.5, "chance")),
            marks: &[(25.0, "next")],
        });
        assert!(
            svg.contains("polyline class=\"line one\"")
                && svg.contains("polygon")
                && svg.contains("chance")
                && svg.contains("next")
        );
        // Values above 1 are drawn at the top edge.
        assert!(svg.contains("744.0,28.0"), "{svg}");
    }
}
